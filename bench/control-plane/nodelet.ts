import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import type { Build } from "../build.ts";
import type { ApiProgram, Endpoint } from "./api-server.ts";
import { endProcess, findFreePorts, readCpuMs, readMemory, startProcess, untilReady } from "./server-process.ts";

/** The built program, started as a user starts it: its first line says with which flags of V8. */
export function nodeletProgram({ name, program }: Build): ApiProgram {
  return {
    name,
    async start(directory, signal) {
      await mkdir(directory, { recursive: true });
      const [port = 0] = await findFreePorts(1);
      const logFile = join(directory, "bench.log");
      const args = ["control-plane", `--state-dir=${directory}`, `--api-port=${port}`];
      const startedAt = performance.now();
      const child = startProcess(program, args, logFile);
      try {
        const kubeconfig = join(directory, "kubeconfig");
        const endpoint = await untilReady({ child, logFile, signal }, async () => await readEndpoint(kubeconfig, port));
        return {
          endpoint,
          readyAfterMs: performance.now() - startedAt,
          readMemory: async () => await readMemory([child.pid]),
          readCpuMs: async () => await readCpuMs([child.pid]),
          stop: async () => await endProcess(child),
        };
      } catch (error) {
        await endProcess(child);
        throw error;
      }
    },
  };
}

/** Undefined until this start has written it: what an earlier one left names another port. */
export async function readEndpoint(kubeconfig: string, port: number): Promise<Endpoint | undefined> {
  const text = await readFile(kubeconfig, "utf8").catch(() => "");
  if (!text.includes(`:${port}"`)) return undefined;
  const { clusters, users }: Kubeconfig = parse(text);
  const pem = (base64 = "") => Buffer.from(base64, "base64").toString();
  return {
    host: "127.0.0.1",
    port,
    caPem: pem(clusters[0]?.cluster["certificate-authority-data"]),
    certificatePem: pem(users[0]?.user["client-certificate-data"]),
    keyPem: pem(users[0]?.user["client-key-data"]),
  };
}

interface Kubeconfig {
  clusters: Array<{ cluster: { "certificate-authority-data": string } }>;
  users: Array<{ user: { "client-certificate-data": string; "client-key-data": string } }>;
}
