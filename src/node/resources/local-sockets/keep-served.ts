import { aborted, sleep } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { ServedService } from "../../../grpc/served-service.ts";
import type { Files } from "../../../host/port.ts";

/** Serves gRPC on a unix socket in a directory that exists; rejects where the socket cannot be. */
export type ServeSocket = (options: {
  readonly path: string;
  readonly services: readonly ServedService[];
  readonly maxRequestBytes: number;
}) => Promise<{ close(): Promise<void> }>;

export interface LocalSocketDeps {
  readonly clock: Clock;
  readonly files: Pick<Files, "makeDirectory">;
  readonly log: Log;
  readonly serve: ServeSocket;
}

interface LocalSocket {
  /** It is made where it is absent. */
  readonly directory: string;
  /** The socket's name there. Default: `kubelet.sock`. */
  readonly name?: string;
  readonly services: readonly ServedService[];
  /** What cannot be done without the socket, for the log. */
  readonly purpose: string;
  /** What is done in the directory before. */
  prepare?(): Promise<void>;
}

const SOCKET = "kubelet.sock";
const DIRECTORY_MODE = 0o750;
const RETRY_MS = 10 * SECOND;
/** Requests are a few names. Whoever begins thousands of long ones and ends none would fill the memory. */
const MAX_REQUEST_BYTES = 64 * 1024;

/**
 * Serves the socket in its directory until the signal fires. A socket that cannot be served is tried again, because an
 * older agent may still have it: the node runs its pods without it.
 */
export async function keepSocketServed(deps: LocalSocketDeps, socket: LocalSocket, signal: AbortSignal): Promise<void> {
  for (;;) {
    const server = await open(deps, socket);
    if (server !== undefined) {
      try {
        return await aborted(signal);
      } finally {
        await server.close();
      }
    }
    await sleep(deps.clock, RETRY_MS, signal);
  }
}

async function open(
  { files, log, serve }: LocalSocketDeps,
  { directory, name = SOCKET, services, purpose, prepare }: LocalSocket,
) {
  const path = `${directory}/${name}`;
  try {
    await files.makeDirectory(directory, DIRECTORY_MODE);
    await prepare?.();
    return await serve({ path, services, maxRequestBytes: MAX_REQUEST_BYTES });
  } catch (error) {
    log.error(`${purpose}: the socket cannot be served, will retry`, { socket: path, error: messageOf(error) });
    return undefined;
  }
}
