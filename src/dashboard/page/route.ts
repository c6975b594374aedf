import { useEffect, useState } from "preact/hooks";

/** What the page shows, as the part of the address after `#` says. */
export type Route =
  | { readonly view: "overview" | "node" | "services" | "events" }
  | { readonly view: "pod"; readonly namespace: string; readonly name: string };

/** The address of a pod's page. */
export function podLink(namespace: string, name: string): string {
  return `#/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}

/** The route of the address; the overview for one that leads nowhere. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const onChange = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return route;
}

function parseRoute(hash: string): Route {
  const [view, namespace, name] = hash.replace(/^#\/?/, "").split("/").map(decode);
  if (view === "pods" && namespace && name) return { view: "pod", namespace, name };
  if (view === "node" || view === "services" || view === "events") return { view };
  return { view: "overview" };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
