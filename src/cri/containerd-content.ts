import { openChannel } from "../grpc/channel.ts";
import { parseEndpoint } from "../grpc/endpoint.ts";
import type { CallOptions } from "../grpc/port.ts";
import { createService, mapErrors } from "../grpc/service.ts";
import { CONTAINERD_METADATA } from "./containerd-events.ts";
import { asCriError } from "./explained-calls.ts";
import { ContentDefinition } from "./gen/containerd/content-service.ts";

/** A part of an image that is on its way to the machine. */
export interface Download {
  /** containerd's name for it, such as `layer-sha256:…`. */
  readonly ref: string;
  readonly bytesDone: number;
  /** 0 where nobody knows. */
  readonly bytesTotal: number;
}

/** containerd's own content store, which listens on the same socket as its CRI and knows what CRI does not tell. */
interface ContainerdContent {
  /** Rejects with CriError, of `unimplemented` where the runtime is no containerd. */
  listDownloads(options: CallOptions): Promise<readonly Download[]>;
  close(): void;
}

const REQUEST_TIMEOUT_MS = 10_000;

/** Connects with the first call. Throws CodedError `invalid-endpoint`. The caller closes the connection. */
export function connectContainerdContent(endpointText: string): ContainerdContent {
  const endpoint = parseEndpoint(endpointText);
  const channel = openChannel({ endpoint, requestTimeoutMs: REQUEST_TIMEOUT_MS, metadata: CONTAINERD_METADATA });
  const content = createService(
    ContentDefinition,
    mapErrors(channel, (error) => asCriError(error, endpoint)),
  );
  return {
    async listDownloads(options) {
      const { statuses } = await content.listStatuses({ filters: [] }, options);
      return statuses.map(({ ref, offset, total }) => ({
        ref,
        bytesDone: Math.max(0, Number(offset)),
        bytesTotal: Math.max(0, Number(total)),
      }));
    },
    close: () => channel.close(),
  };
}
