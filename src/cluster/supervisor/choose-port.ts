import { createServer } from "node:net";

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
