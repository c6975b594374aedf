import { createServer } from "node:net";
import { codeOf, messageOf } from "../../base/errors.ts";
import { PORT_TAKEN } from "../../host/http-server.ts";

/** Chooses the wanted port where it is free, and any other free one else: several nodes may run on one machine. */
export async function choosePort(address: string, wanted: number): Promise<number> {
  return (await tryPort(address, wanted)) ?? (await tryPort(address, 0)) ?? wanted;
}

/**
 * Tries the port; undefined where it is taken, or where the address is not one of this machine's. The server that later
 * listens there reports what is wrong.
 */
async function tryPort(address: string, port: number): Promise<number | undefined> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host: address, port }, resolve);
    });
    const bound = server.address();
    return typeof bound === "object" ? bound?.port : undefined;
  } catch {
    return undefined;
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

/**
 * Starts a child on a port that was chosen for it, and once more where another process, such as a second node that starts
 * at this moment, took the port before the child listened there.
 */
export async function withChosenPort<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (codeOf(error) === "exited" && messageOf(error).includes(PORT_TAKEN)) return await start();
    throw error;
  }
}
