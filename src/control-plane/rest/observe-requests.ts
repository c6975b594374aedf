import type { Metrics } from "../../base/metrics.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import type { RequestTarget, ResourceTarget } from "./request-path.ts";

/** Counts and times the requests that are served, in upstream's series. */
export interface RequestObserver {
  observe(target: RequestTarget, code: number, seconds: number): void;
  readonly watches: {
    opened(kind: ResourceKind): void;
    closed(kind: ResourceKind): void;
    sent(kind: ResourceKind): void;
  };
}

/** Durations of requests range from reads of memory to lists of thousands. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Only these verbs get series of their own: HTTP/2 lets a client invent methods. */
const VERBS = new Set(["create", "get", "list", "watch", "update", "patch", "delete", "deletecollection"]);

export function createRequestObserver(
  metrics: Metrics,
  kindOf: (target: ResourceTarget) => ResourceKind | undefined,
): RequestObserver {
  const requests = metrics.counter("apiserver_request_total", "Requests by verb, resource and answer.", [
    "verb",
    "group",
    "version",
    "resource",
    "subresource",
    "code",
  ]);
  const durations = metrics.histogram(
    "apiserver_request_duration_seconds",
    "How long requests took, watches excluded.",
    {
      labels: ["verb", "group", "version", "resource"],
      buckets: BUCKETS,
    },
  );
  const watchers = metrics.gauge("apiserver_longrunning_requests", "Watches that are open.", [
    "verb",
    "group",
    "version",
    "resource",
  ]);
  const countEvents = metrics.counter("apiserver_watch_events_total", "Events sent to watchers.", [
    "group",
    "version",
    "resource",
  ]);
  const open = new Map<string, number>();
  const labelsOf = ({ group, version, plural }: ResourceKind) => ({ group, version, resource: plural });
  const count = (kind: ResourceKind, by: number) => {
    const key = `${kind.group}/${kind.version}/${kind.plural}`;
    const now = (open.get(key) ?? 0) + by;
    open.set(key, now);
    watchers.set(now, { verb: "WATCH", ...labelsOf(kind) });
  };
  /** The counter of the kind whose event was sent last. */
  let sent: { readonly kind: ResourceKind; events: number } | undefined;
  const countSent = () => {
    if (sent) countEvents.add(labelsOf(sent.kind), sent.events);
    sent = undefined;
  };
  return {
    observe(target, code, seconds) {
      // A client may put anything into a path, and must not create series by it.
      const kind = target.isResource ? kindOf(target) : undefined;
      if (!target.isResource || kind === undefined) return;
      const { group, version, resource } = target;
      const verb = VERBS.has(target.verb) ? target.verb.toUpperCase() : "OTHER";
      const isServed = kind.subresources.some(({ name }) => name === target.subresource);
      requests.add({
        verb,
        group,
        version,
        resource,
        subresource: isServed ? target.subresource : "",
        code: String(code),
      });
      if (verb !== "WATCH") durations.observe(seconds, { verb, group, version, resource });
    },
    watches: {
      opened: (kind) => count(kind, 1),
      closed: (kind) => count(kind, -1),
      sent(kind) {
        // An event goes to all its watchers in one turn, and is counted for all of them at once.
        if (sent?.kind === kind) {
          sent.events++;
          return;
        }
        if (sent) countSent();
        else queueMicrotask(countSent);
        sent = { kind, events: 1 };
      },
    },
  };
}
