import { AbortedError, isAbort } from "../base/abort.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { CallOptions } from "../grpc/port.ts";
import type { Rpc, RpcCaller, ServiceDefinition } from "../grpc/service.ts";
import { ImageServiceDefinition, RuntimeServiceDefinition } from "./gen/cri-v1.ts";
import { CriError, isCriError } from "./port.ts";

interface StreamedListsOptions {
  /** The time-out of lists whose caller names none: it holds for the stream as a whole. */
  readonly requestTimeoutMs: number;
  readonly log: Log;
}

/** How a list is streamed: by which method, in which field the items come, and in which the list has them. */
interface StreamedList {
  readonly key: string;
  readonly from: string;
  readonly to: string;
}

/** What one list may have. A runtime that sends items without an end is not believed. */
export const MAX_STREAMED_ITEMS = 1_000_000;

const LISTS: ReadonlyMap<string, StreamedList> = new Map([
  ["listPodSandbox", { key: "streamPodSandboxes", from: "podSandboxes", to: "items" }],
  ["listContainers", { key: "streamContainers", from: "containers", to: "containers" }],
  ["listContainerStats", { key: "streamContainerStats", from: "containerStats", to: "stats" }],
  ["listPodSandboxStats", { key: "streamPodSandboxStats", from: "podSandboxStats", to: "stats" }],
  ["listPodSandboxMetrics", { key: "streamPodSandboxMetrics", from: "podSandboxMetrics", to: "podMetrics" }],
  ["listImages", { key: "streamImages", from: "images", to: "images" }],
]);

/**
 * A caller that reads lists as streams, so that no list is too long for one message (upstream: the gate CRIListStreaming,
 * cri-client/pkg/remote_runtime.go). A service that lacks one of the streams is asked for lists from then on. A stream that
 * breaks off is a failed call: no part of a list is taken for the whole.
 */
export function streamLists(caller: RpcCaller, { requestTimeoutMs, log }: StreamedListsOptions): RpcCaller {
  const unaryServices = new Set<string>();
  return {
    async unary(rpc, request, options) {
      const list = LISTS.get(rpc.key);
      const streamed = list && !unaryServices.has(rpc.service) ? streamOf(rpc, list) : undefined;
      if (list === undefined || streamed === undefined) return await caller.unary(rpc, request, options);
      try {
        const timeoutMs = options.timeoutMs ?? requestTimeoutMs;
        return { [list.to]: await collect(caller.stream(streamed, request, { ...options, timeoutMs }), list, options) };
      } catch (error) {
        if (!isCriError(error, "unimplemented")) {
          if (!isAbort(error)) log.error(`${streamed.method.name} recv failed`, { error: messageOf(error) });
          throw error;
        }
        log.info("The runtime does not stream lists, and is asked for them whole", { error: error.message });
        unaryServices.add(rpc.service);
        return await caller.unary(rpc, request, options);
      }
    },
    stream: (rpc, request, options) => caller.stream(rpc, request, options),
  };
}

const DEFINITIONS: readonly ServiceDefinition[] = [RuntimeServiceDefinition, ImageServiceDefinition];

/** The request of a stream has the same fields as that of its list. */
function streamOf({ service }: Rpc, { key }: StreamedList): Rpc | undefined {
  const method = DEFINITIONS.find(({ fullName }) => fullName === service)?.methods[key];
  return method && { service, key, method };
}

async function collect(
  messages: AsyncIterable<unknown>,
  { key, from }: StreamedList,
  { signal }: CallOptions,
): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const message of messages) {
    // Generated code has decoded the message, and this is its only field.
    for (const item of (message as Readonly<Record<string, readonly unknown[]>>)[from] ?? []) items.push(item);
    if (items.length <= MAX_STREAMED_ITEMS) continue;
    throw new CriError("resource-exhausted", { rpc: key, endpoint: "the runtime", detail: "the list has no end" });
  }
  // A stream that was given up ends without an error.
  if (signal?.aborted) throw new AbortedError();
  return items;
}
