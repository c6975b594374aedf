/**
 * The parts of a node's own API that run programs in containers, or open connections into pods. A WebSocket to them
 * begins with GET, and so a right to read must never be enough for them.
 */
const INTO_CONTAINERS = ["/exec", "/attach", "/portForward", "/run"];

/** Tells whether a path of a node's own API, without escapes, leads into containers. */
export function leadsIntoContainers(path: string): boolean {
  return INTO_CONTAINERS.some((root) => path === root || path.startsWith(`${root}/`));
}
