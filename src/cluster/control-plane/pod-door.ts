import { aborted, isAbort, sleep } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { HttpServer } from "../../host/http-server.ts";

interface PodDoorDeps {
  /** Listens on the address of which pods know. */
  readonly listen: () => Promise<HttpServer>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The door through which pods reach the API server. */
interface PodDoor {
  /** The server while it listens. */
  readonly server: HttpServer | undefined;
  /** Listens from when the machine has the address until the signal fires. Returns when the server is closed. */
  run(signal: AbortSignal): Promise<void>;
}

/** The bridge of the pods has its address some milliseconds after containerd's start. */
const RETRY_MS = 250;

/** Creates a closed door. */
export function createPodDoor({ listen, clock, log }: PodDoorDeps): PodDoor {
  let server: HttpServer | undefined;
  let failure = "";
  const tryListen = async () => {
    try {
      return await listen();
    } catch (error) {
      const isEarly = error instanceof Error && codeOf(error.cause) === "EADDRNOTAVAIL";
      const reason = messageOf(error);
      if (!isEarly && reason !== failure) log.error("pods cannot reach the API server", { error: reason });
      failure = reason;
      return undefined;
    }
  };
  return {
    get server() {
      return server;
    },
    async run(signal) {
      try {
        while (server === undefined) {
          server = await tryListen();
          if (server === undefined) await sleep(clock, RETRY_MS, signal);
        }
        await aborted(signal);
      } catch (error) {
        if (!isAbort(error)) throw error;
      } finally {
        await server?.close();
      }
    },
  };
}
