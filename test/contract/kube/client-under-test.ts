import type { KubeResource } from "../../../src/api/kube-resource.ts";
import type { KubeClient, WatchEvent, WatchOptions } from "../../../src/kube/port.ts";

/** A client and what its cases need besides. */
export interface ClientUnderTest {
  /** May do everything. */
  readonly admin: KubeClient;
  /** A user who may do nothing. */
  readonly stranger: KubeClient;
  stop(): Promise<void>;
}

/** Known once the cases run. */
export interface Clients {
  admin(): KubeClient;
  stranger(): KubeClient;
}

/** What the server behind a client does in a way of its own. */
export interface ServerTraits {
  /** Old revisions are given up for new ones, however old they are. */
  readonly forgets: boolean;
}

export type MakeClient = () => Promise<ClientUnderTest>;

/** A watch that runs beside a case. */
interface Watching<T> {
  /** The next event; rejects when the watch fails first. */
  next(): Promise<WatchEvent<T>>;
  /** The next that is no bookmark. */
  nextChange(): Promise<WatchEvent<T>>;
  /** As the watch ends. */
  readonly ended: Promise<void>;
  abort(): void;
}

export function startWatch<T>(
  client: KubeClient,
  resource: KubeResource<T>,
  options: Partial<WatchOptions> & Pick<WatchOptions, "resourceVersion">,
): Watching<T> {
  const controller = new AbortController();
  const events: WatchEvent<T>[] = [];
  let wake: () => void = () => undefined;
  const ended = client.watch(resource, { timeoutSeconds: 60, signal: controller.signal, ...options }, (event) => {
    events.push(event);
    wake();
  });
  ended.catch(() => undefined);
  const next = async () => {
    for (;;) {
      const event = events.shift();
      if (event !== undefined) return event;
      const more = new Promise<"more">((resolve) => {
        wake = () => resolve("more");
      });
      if ((await Promise.race([more, ended])) !== "more" && events.length === 0) throw new Error("the watch ended");
    }
  };
  return {
    next,
    async nextChange() {
      for (;;) {
        const event = await next();
        if (event.type !== "BOOKMARK") return event;
      }
    },
    ended,
    abort: () => controller.abort(),
  };
}
