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
}) => Promise<{ close(): Promise<void> }>;

interface RegistrationSocketDeps {
  readonly clock: Clock;
  readonly files: Pick<Files, "list" | "makeDirectory" | "remove">;
  readonly log: Log;
  readonly serve: ServeSocket;
}

const SOCKET = "kubelet.sock";
const DIRECTORY_MODE = 0o750;
const RETRY_MS = 10 * SECOND;

/**
 * Serves the socket to which device plugins come, until the signal fires. The sockets of plugins go first, as upstream
 * (`CleanupPluginDirectory`): a plugin that lives sees that the node agent's socket is new, and registers again. A socket
 * that cannot be served is tried again, because an older agent may still have it.
 */
export async function serveRegistrationSocket(
  deps: RegistrationSocketDeps,
  { directory, services }: { readonly directory: string; readonly services: readonly ServedService[] },
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const server = await open(deps, directory, services);
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
  { files, log, serve }: RegistrationSocketDeps,
  directory: string,
  services: readonly ServedService[],
) {
  const path = `${directory}/${SOCKET}`;
  try {
    await files.makeDirectory(directory, DIRECTORY_MODE);
    const entries = await files.list(directory);
    for (const { name, type } of entries) {
      if (type === "socket" && name !== SOCKET) await files.remove(`${directory}/${name}`);
    }
    return await serve({ path, services });
  } catch (error) {
    log.error("Device plugins cannot register, will retry", { socket: path, error: messageOf(error) });
    return undefined;
  }
}
