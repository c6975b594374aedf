import type { EndpointSlice, Service } from "../../api/gen/types.ts";
import { typed } from "../../api/object.ts";
import type { ResolveHost } from "../../host/resolve-host.ts";
import type { CallTls, WebServer } from "../../host/web-call.ts";
import { isProxyable } from "../node-proxy/reachable-address.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { Backend } from "./backends.ts";

/** Where a backend is, or why it is nowhere: in the reasons and words of upstream's condition. */
type BackendLocation =
  | { readonly found: true; readonly server: BackendServer }
  | { readonly found: false; readonly reason: string; readonly message: string };

/** A server by the name that its certificate is for; `alias` is another name, which leads to it. */
export interface BackendServer extends WebServer {
  readonly scheme: "https";
  readonly alias?: string;
}

const HTTPS_PORT = 443;

/**
 * Finds a ready endpoint of the backend's service. The server is called by the name that its certificate is for, at the
 * address of the endpoint. Upstream: kube-aggregator's remote_available_controller.go.
 */
export function locateBackend(
  reader: ResourceReader,
  { service: { namespace = "", name = "", port: wanted = HTTPS_PORT } }: Pick<Backend, "service">,
  random: () => number,
): BackendLocation {
  const quoted = JSON.stringify(namespace);
  const object = reader.get({ resource: "services", namespace, name });
  if (object === undefined) return nowhere("ServiceNotFound", `service/${name} in ${quoted} is not present`);
  const { spec }: Service = typed("Service", object);
  const host = `${name}.${namespace}.svc`;
  if (spec?.type === "ExternalName") {
    return { found: true, server: { scheme: "https", host, port: wanted, alias: spec.externalName ?? "" } };
  }
  const declared = spec?.ports?.find(({ port }) => port === wanted);
  if (declared === undefined) {
    return nowhere("ServicePortError", `service/${name} in ${quoted} is not listening on port ${wanted}`);
  }
  const slices = reader
    .list("endpointslices.discovery.k8s.io", namespace)
    .filter(({ metadata }) => metadata.labels?.["kubernetes.io/service-name"] === name)
    .map((slice) => typed("EndpointSlice", slice));
  if (slices.length === 0) {
    return nowhere("EndpointsNotFound", `cannot find endpointslices for service/${name} in ${quoted}`);
  }
  const portName = declared.name ?? "";
  const places = slices.flatMap((slice) => placesOf(slice, portName));
  const place = places[Math.floor(random() * places.length)];
  if (place === undefined) {
    const what = `have no addresses with port name ${JSON.stringify(portName)}`;
    return nowhere("MissingEndpoints", `endpointslices for service/${name} in ${quoted} ${what}`);
  }
  return { found: true, server: { scheme: "https", host, port: place.port, addresses: [place.address] } };
}

/** The server with its addresses. Rejects where the name of a service of type ExternalName leads nowhere. */
export async function withAddresses(
  resolveHost: ResolveHost,
  { alias, ...server }: BackendServer,
  signal: AbortSignal,
): Promise<WebServer> {
  return alias === undefined ? server : { ...server, addresses: await resolveHost(alias, signal) };
}

/** How TLS is spoken with the backend: with the certificate by which it knows us, and only what its registration believes. */
export function backendTls(
  { spec: { caBundle = "", insecureSkipTLSVerify = false } }: Pick<Backend, "spec">,
  { certificatePem, keyPem }: { readonly certificatePem: string; readonly keyPem: string },
): CallTls {
  const ca = insecureSkipTLSVerify ? undefined : Buffer.from(caBundle, "base64").toString();
  return { cert: certificatePem, key: keyPem, ca };
}

const nowhere = (reason: string, message: string): BackendLocation => ({ found: false, reason, message });

function placesOf({ endpoints = [], ports = [] }: EndpointSlice, portName: string) {
  const port = ports.find(({ name = "" }) => name === portName)?.port;
  if (port === undefined) return [];
  const ready = (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
  // Who may write endpoints could point them at the machine itself.
  const addresses = ready.flatMap(({ addresses: all }) => all.slice(0, 1)).filter(isProxyable);
  return addresses.map((address) => ({ address, port }));
}
