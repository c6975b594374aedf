import { trimRight } from "../../../base/trim-right.ts";
import type { Page, ServedRequest } from "../../../host/http-server.ts";

/** The pod or container whose streams a path names: `/{root}/{namespace}/{pod}[/{uid}]/{container}`. */
export interface StreamTarget {
  readonly namespace: string;
  readonly podName: string;
  /** Undefined where the path names no UID. */
  readonly podUid: string | undefined;
  /** Empty where the root takes no container. */
  readonly containerName: string;
}

/** The methods and the path parts that a root of the node's API takes. */
export interface TargetShape {
  readonly root: string;
  readonly methods: readonly string[];
  /** Default true. */
  readonly hasContainer?: boolean;
  /** Default true. */
  readonly hasUid?: boolean;
}

/** Returns the target, or the answer to a request that has none, in the words of upstream's router, go-restful. */
export function parseStreamTarget(
  { method, path }: Pick<ServedRequest, "method" | "path">,
  { root, methods, hasContainer = true, hasUid = true }: TargetShape,
): StreamTarget | { readonly refused: Page } {
  const parts = trimRight(path.slice(root.length).replace(/^\/+/, ""), "/").split("/");
  const shortest = hasContainer ? 3 : 2;
  const fits = parts.length === shortest || (hasUid && parts.length === shortest + 1);
  if (!fits || parts.includes("")) return { refused: { status: 404, body: "404: Page Not Found" } };
  if (!methods.includes(method)) {
    return { refused: { status: 405, headers: { allow: methods.join(", ") }, body: "405: Method Not Allowed" } };
  }
  const [namespace = "", podName = ""] = parts;
  return {
    namespace,
    podName,
    podUid: parts.length > shortest ? parts[2] : undefined,
    containerName: hasContainer ? (parts.at(-1) ?? "") : "",
  };
}
