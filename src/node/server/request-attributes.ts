import { leadsIntoContainers } from "../../api/node-api-paths.ts";

/**
 * What a request to the node's API is authorized as: a verb on subresources of the node. Permission for any one of them
 * is enough.
 */
interface RequestAttributes {
  /**
   * The verb. It is empty for a method that the API does not know, which only a user who may do everything is allowed
   * to use.
   */
  readonly verb: string;
  readonly subresources: readonly [string, ...string[]];
}

const VERBS: Readonly<Record<string, string>> = {
  POST: "create",
  GET: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/** The subresources that can be granted by themselves. A user who lacks them needs `nodes/proxy`. */
const FINE_GRAINED = [
  ["/pods", "pods"],
  ["/healthz", "healthz"],
  ["/configz", "configz"],
  ["/runningpods", "pods"],
] as const;

/** The subresources that `nodes/proxy` does not include. */
const SEPARATE = [
  ["/stats", "stats"],
  ["/metrics", "metrics"],
  ["/logs", "log"],
  ["/checkpoint", "checkpoint"],
  ["/statusz", "statusz"],
  ["/flagz", "configz"],
] as const;

/**
 * Computes the attributes from method and path, as `GetRequestAttributes` of pkg/kubelet/server/auth.go does. Unlike
 * there, whoever asks with GET for a stream into a container, which every WebSocket does, needs `create`. A monitoring
 * program that may `get nodes/proxy` could otherwise run commands in each pod of the node.
 */
export function computeRequestAttributes(method: string, path: string): RequestAttributes {
  const matches = ([root]: readonly [string, string]) => path === root || path.startsWith(`${root}/`);
  const [, general] = SEPARATE.find(matches) ?? ["", "proxy"];
  const fine = FINE_GRAINED.find(matches)?.[1];
  const verb = Object.hasOwn(VERBS, method) ? (VERBS[method] ?? "") : "";
  return {
    verb: verb === "get" && leadsIntoContainers(path) ? "create" : verb,
    subresources: fine === undefined ? [general] : [fine, general],
  };
}
