import type { KubeObject } from "../../api/object.ts";
import { readStreams } from "../node-proxy/stream-options.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import type { ResourceTarget } from "./request-path.ts";

/**
 * What a client wants of a connection, as admission sees it: `PodExecOptions` and its like, made of the query. Undefined
 * for a subresource that is read and not connected to, such as logs.
 */
export function connectOptionsOf(
  { subresources }: ResourceKind,
  { subresource, rest }: ResourceTarget,
  query: URLSearchParams,
): KubeObject | undefined {
  const row = subresources.find(({ name }) => name === subresource);
  const fields = fieldsOf(subresource, rest, query);
  return row && fields && { kind: row.kind, apiVersion: row.version, metadata: {}, ...fields };
}

function fieldsOf(
  subresource: string,
  path: string,
  query: URLSearchParams,
): Readonly<Record<string, unknown>> | undefined {
  switch (subresource) {
    case "attach":
      return streamFields(query);
    case "exec":
      return { ...streamFields(query), command: query.getAll("command") };
    case "portforward": {
      const ports = query
        .getAll("ports")
        .flatMap((text) => text.split(",").map(Number))
        .filter(Number.isInteger);
      return ports.length === 0 ? {} : { ports };
    }
    case "proxy":
      return path === "" ? {} : { path };
    default:
      return undefined;
  }
}

function streamFields(query: URLSearchParams): Readonly<Record<string, unknown>> {
  const container = query.get("container") ?? "";
  const asked = Object.entries(readStreams(query)).filter(([, isSet]) => isSet);
  return { ...Object.fromEntries(asked), ...(container !== "" && { container }) };
}
