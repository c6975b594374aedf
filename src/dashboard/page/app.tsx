import { useEffect, useRef } from "preact/hooks";
import { EventsPage } from "./events.tsx";
import { NodePage } from "./node-page.tsx";
import { Overview } from "./overview.tsx";
import { PodPage } from "./pod-page.tsx";
import { type Route, useRoute } from "./route.ts";
import { ServicesPage } from "./services.tsx";
import { askFor } from "./session.ts";
import { useAsked, useConnection } from "./state.ts";
import { Plain } from "./words.tsx";

const VIEWS = [
  { view: "overview", href: "#/", word: "Overview" },
  { view: "node", href: "#/node", word: "Node" },
  { view: "services", href: "#/services", word: "Services" },
  { view: "events", href: "#/events", word: "Events" },
] as const;

/** The whole page: where one is, how it stands with the server, and the view that the address names. */
export function App() {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const place = JSON.stringify(route);
  useEffect(() => {
    document.title = `${route.view === "pod" ? route.name : (VIEWS.find(({ view }) => view === route.view)?.word ?? "")} · nodelet`;
    // Who uses no mouse goes on from the new heading, and hears it.
    if (!isFirst.current) main.current?.querySelector("h1")?.focus();
    isFirst.current = false;
    scrollTo(0, 0);
  }, [place]);
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        To the content
      </button>
      <header>
        <a class="brand" href="#/">
          nodelet
        </a>
        <nav aria-label="Views">
          {VIEWS.map(({ view, href, word }) => (
            <a key={view} href={href} aria-current={route.view === view ? "page" : undefined}>
              {word}
            </a>
          ))}
        </nav>
        <Standing />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <View key={place} route={route} />
      </main>
      <Who />
    </>
  );
}

function View({ route }: { route: Route }) {
  switch (route.view) {
    case "pod":
      return <PodPage namespace={route.namespace} name={route.name} />;
    case "node":
      return <NodePage />;
    case "services":
      return <ServicesPage />;
    case "events":
      return <EventsPage />;
    default:
      return <Overview />;
  }
}

function Standing() {
  const connection = useConnection();
  return (
    <div class={`standing ${connection.state}`} role="status">
      {connection.state === "live" && "live"}
      {connection.state === "connecting" && "connecting …"}
      {connection.state === "lost" && `${connection.message} It is tried again.`}
      {connection.state === "ended" && `${connection.message} Open the link that nodelet dashboard prints.`}
    </div>
  );
}

const HOUR_MS = 3_600_000;

function Who() {
  const ask = async (signal: AbortSignal) => await askFor<{ server: string; user: string }>("/whoami", { signal });
  const { value } = useAsked({ subject: "", periodMs: HOUR_MS, ask });
  return (
    <footer class="faint">
      {value !== undefined && (
        <Plain text={value.user === "" ? value.server : `${value.server}, with the rights of ${value.user}`} />
      )}
    </footer>
  );
}
