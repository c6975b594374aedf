import type { KubeResource } from "../../api/kube-resource.ts";
import { AbortedError } from "../../base/abort.ts";
import type { KubeClient, KubeList, ListOptions, WatchOptions } from "../port.ts";

/** A server whose answers a test gives by hand, call by call. */
interface ScriptedClient {
  readonly client: Pick<KubeClient, "list" | "watch">;
  /** All lists and watches that were asked for, oldest first. */
  readonly lists: ListCall[];
  readonly watches: WatchCall[];
}

interface ListCall {
  readonly options: ListOptions;
  answer(items: readonly unknown[], resourceVersion: string): void;
  fail(error: Error): void;
}

interface WatchCall {
  readonly options: WatchOptions;
  send(type: "ADDED" | "MODIFIED" | "DELETED", object: unknown, resourceVersion: string): void;
  bookmark(resourceVersion: string): void;
  end(): void;
  fail(error: Error): void;
}

/** Calls end with an AbortedError when their signal fires, unless `ignoresAborts`. */
export function createScriptedClient({ ignoresAborts = false } = {}): ScriptedClient {
  const lists: ListCall[] = [];
  const watches: WatchCall[] = [];
  const pending = async <T>(
    { signal }: Pick<ListOptions, "signal">,
    begin: (resolve: (value: T) => void, reject: (error: Error) => void) => void,
  ): Promise<T> => {
    let abort = () => undefined;
    const promise = new Promise<T>((resolve, reject) => {
      abort = () => void reject(new AbortedError());
      begin(resolve, reject);
    });
    if (!ignoresAborts) signal?.addEventListener("abort", abort);
    return await promise.finally(() => signal?.removeEventListener("abort", abort));
  };
  return {
    client: {
      list: async <T>(resource: KubeResource<T>, options: ListOptions = {}) =>
        await pending<KubeList<T>>(options, (resolve, fail) => {
          const answer = (items: readonly unknown[], resourceVersion: string) =>
            resolve({ items: items.map((item) => resource.read(item)), resourceVersion });
          lists.push({ options, answer, fail });
        }),
      watch: async (resource, options, onEvent) => {
        await pending<void>(options, (end, fail) => {
          const tell = (event: Parameters<typeof onEvent>[0]) => {
            try {
              onEvent(event);
            } catch (error) {
              fail(error instanceof Error ? error : new Error(String(error)));
            }
          };
          watches.push({
            options,
            send: (type, object, resourceVersion) => tell({ type, object: resource.read(object), resourceVersion }),
            bookmark: (resourceVersion) => tell({ type: "BOOKMARK", resourceVersion }),
            end,
            fail,
          });
        });
      },
    },
    lists,
    watches,
  };
}
