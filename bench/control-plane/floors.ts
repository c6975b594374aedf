import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { linuxFiles } from "../../src/host/linux/files/linux-files.ts";
import { ensureClusterCertificates } from "../../src/pki/cluster-certificates.ts";
import { type Connection, connect, expectStatus } from "./connection.ts";

/** What no server that stores durably and speaks HTTPS can do without. */
export interface Floors {
  /** Sends so many bytes to a server that sends them back, and returns how long that took, in milliseconds. */
  echo(bytes: number): Promise<number>;
  /** Appends so many bytes to a file and flushes them with fdatasync. */
  flush(bytes: number): Promise<number>;
  close(): Promise<void>;
}

const ECHO_PROCESS = new URL("./echo-process.ts", import.meta.url);

/** In the directory, which is on the file system that is measured. */
export async function createFloors(directory: string, { connections }: { connections: number }): Promise<Floors> {
  const pki = join(directory, "pki");
  const options = { files: linuxFiles, now: Date.now(), hosts: [] };
  const { authority, serving, admin } = await ensureClusterCertificates(pki, options);
  const credentials = { host: "127.0.0.1", caPem: authority.certificatePem, ...admin };
  const child = fork(ECHO_PROCESS);
  const port = await startEcho(child, {
    ...credentials,
    servingCertificatePem: serving.certificatePem,
    servingKeyPem: serving.keyPem,
  });
  const connection = connect({ ...credentials, port }, { protocol: "HTTP/1.1", connections });
  const file = await open(join(directory, "floor"), "a");
  return {
    echo: async (bytes) => await timeEcho(connection, bytes),
    async flush(bytes) {
      const content = Buffer.alloc(bytes, "x");
      const begun = performance.now();
      await file.write(content);
      await file.datasync();
      return performance.now() - begun;
    },
    async close() {
      connection.close();
      child.disconnect();
      await file.close();
    },
  };
}

async function startEcho(child: ChildProcess, endpoint: object): Promise<number> {
  child.send(endpoint);
  const [port]: unknown[] = await once(child, "message");
  return Number(port);
}

async function timeEcho(connection: Connection, bytes: number): Promise<number> {
  const body = "x".repeat(bytes);
  const begun = performance.now();
  expectStatus(await connection.request({ method: "POST", path: "/", body }), 200);
  return performance.now() - begun;
}
