import { createServer } from "node:net";

/** The wanted port where nobody listens on it, and any other free one else: nodes run side by side on one machine. */
export async function choosePort(address: string, wanted: number): Promise<number> {
  return (await tryPort(address, wanted)) ?? (await tryPort(address, 0)) ?? wanted;
}

/** Undefined where it is taken, or the address is none of this machine's: whoever listens there says what is wrong. */
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
