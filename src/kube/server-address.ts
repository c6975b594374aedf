import type { Fields } from "./kubeconfig-fields.ts";

/** `server` of a cluster as a URL. Without a scheme it is https if the cluster has a field about TLS, as in client-go. */
export function readServer(cluster: Fields): string {
  const text = cluster.text("server");
  if (text === "") throw cluster.invalid("server", "missing: write the URL of the API server");
  const saysTls = ["certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify"];
  const scheme = saysTls.some((key) => cluster.has(key)) ? "https" : "http";
  const full = text.includes("://") ? text : `${scheme}://${text}`;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw cluster.invalid("server", "host must be a URL or a host:port pair, as https://10.0.0.1:6443");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw cluster.invalid("server", "must be no more than scheme, host, port and path");
  }
  return `${url.protocol}//${url.host}${url.pathname.replace(/\/+$/, "")}`;
}
