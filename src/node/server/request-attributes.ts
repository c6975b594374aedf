/** What a request to the node's API is authorized as: a verb on subresources of the node, any of which suffices. */
interface RequestAttributes {
  /** Empty for a method that is none of the API's: only who may do everything may do that. */
  readonly verb: string;
  /** At least one. */
  readonly subresources: readonly [string, ...string[]];
}

const VERBS: Readonly<Record<string, string>> = {
  POST: "create",
  GET: "get",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/** Subresources that may be granted by themselves; without them `nodes/proxy` is asked for. */
const FINE_GRAINED = [
  ["/pods", "pods"],
  ["/healthz", "healthz"],
  ["/configz", "configz"],
  ["/runningpods", "pods"],
] as const;

/** Subresources of their own; who may use `nodes/proxy` may not use these by that. */
const SEPARATE = [
  ["/stats", "stats"],
  ["/metrics", "metrics"],
  ["/logs", "log"],
  ["/checkpoint", "checkpoint"],
  ["/statusz", "statusz"],
  ["/flagz", "configz"],
] as const;

/** By method and path, as `GetRequestAttributes` of pkg/kubelet/server/auth.go. */
export function computeRequestAttributes(method: string, path: string): RequestAttributes {
  const matches = ([root]: readonly [string, string]) => path === root || path.startsWith(`${root}/`);
  const [, general] = SEPARATE.find(matches) ?? ["", "proxy"];
  const fine = FINE_GRAINED.find(matches)?.[1];
  return {
    verb: Object.hasOwn(VERBS, method) ? (VERBS[method] ?? "") : "",
    subresources: fine === undefined ? [general] : [fine, general],
  };
}
