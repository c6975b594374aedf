import { existsSync } from "node:fs";
import { createServer } from "node:net";

/** A bridge and a range of addresses that only the caller's process uses while it runs. */
interface TestNetwork {
  readonly bridge: string;
  readonly podCidr: string;
  /** The addresses of the services of a cluster with this network. */
  readonly serviceCidr: string;
}

/** `10.100.0.0/16` to `10.189.0.0/16`; nodes of `nodelet/testing` take theirs from `10.192.0.0/10`. */
const NETWORKS = 90;
const FIRST_NETWORK = 100;
/** Below the ports that the kernel gives to connections (from 32768) and the node ports of services (from 30000). */
const FIRST_PORT = 20_000;
const PORTS = 9_000;

/** A network for one runtime. A bridge that an earlier run left behind keeps its number out of use. */
export async function claimNetwork(): Promise<TestNetwork> {
  const bridgeOf = (number: number) => `nle${number}`;
  const number = await claim("network", NETWORKS, async (candidate) => {
    return !existsSync(`/sys/class/net/${bridgeOf(candidate)}`);
  });
  return {
    bridge: bridgeOf(number),
    podCidr: `10.${FIRST_NETWORK + number}.0.0/16`,
    serviceCidr: `10.98.${number}.0/24`,
  };
}

/** A free TCP port. No other process that asks here gets it, and no connection of this machine takes it by chance. */
export async function claimPort(): Promise<number> {
  return FIRST_PORT + (await claim("port", PORTS, async (candidate) => await canListen(FIRST_PORT + candidate)));
}

/**
 * A number below `count` that no other process of this machine holds, until this process ends. The hold is a socket of
 * the abstract namespace, which the kernel takes away with the process, however that ends.
 */
async function claim(kind: string, count: number, isUsable: (number: number) => Promise<boolean>): Promise<number> {
  // Two processes that begin at different places seldom try the same numbers.
  const start = Math.floor(Math.random() * count);
  for (let tried = 0; tried < count; tried++) {
    const number = (start + tried) % count;
    if ((await hold(`\0nodelet-tests/${kind}/${number}`)) && (await isUsable(number))) return number;
  }
  throw new Error(`each ${kind} of the ${count} for tests is in use`);
}

/** False where another process, or this one, holds the name. */
async function hold(name: string): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    const server = createServer().unref();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(false);
      else reject(error);
    });
    server.listen(name, () => resolve(true));
  });
}

async function canListen(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
}
