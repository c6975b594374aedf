import { execFile } from "node:child_process";
import { mkdtemp, open, rm, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { createFakeHost } from "../../src/host/fake/create-fake-host.ts";
import { createLinuxHost } from "../../src/host/linux/create-linux-host.ts";
import type { Mounts } from "../../src/host/mounts-port.ts";
import type { Host } from "../../src/host/port.ts";

const run = promisify(execFile);

/** What a case of the host's contract needs beyond the port: the rest of the machine. */
export interface HostHarness {
  host: Host;
  /** An empty directory. */
  directory: string;
  makeFifo(path: string): Promise<void>;
  makeSymlink(target: string, path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Mounts over the directory; false where that is not possible. */
  mount(path: string): Promise<boolean>;
  /** Makes a socket that somebody listens on. */
  makeSocket(path: string): Promise<void>;
  /** What is mounted there is in use until the function that it gives is called. */
  hold(path: string): Promise<() => Promise<void>>;
  /** Serves these answers by path; gives the URL that they hang on. */
  serve(answers: Readonly<Record<string, Answer>>): Promise<string>;
  /** Lets time pass until the condition holds. */
  until(condition: () => boolean): Promise<void>;
  close(): Promise<void>;
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
  delayMs?: number;
}

/** `mounts`: other than those of the real host. */
export async function createRealHostHarness(mounts?: Mounts): Promise<HostHarness> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-host-"));
  const closers: Array<() => Promise<unknown>> = [async () => rm(directory, { recursive: true, force: true })];
  const host = createLinuxHost();
  return {
    host: { ...host, mounts: mounts ?? host.mounts },
    directory,
    makeFifo: async (path) => void (await run("mkfifo", [path])),
    makeSymlink: symlink,
    rename: async (from, to) => void (await run("mv", ["-T", from, to])),
    async mount(path) {
      // A bind mount of the same file system: the device number does not give it away.
      const source = await mkdtemp(join(tmpdir(), "nodelet-host-mount-"));
      closers.unshift(async () => rm(source, { recursive: true, force: true }));
      await run("touch", [join(source, "precious")]);
      try {
        await run("mount", ["--bind", source, path]);
      } catch {
        return false;
      }
      closers.unshift(async () => run("umount", [path]));
      return true;
    },
    async makeSocket(path) {
      const server = createSocketServer();
      await new Promise<void>((resolve) => server.listen(path, resolve));
      closers.unshift(async () => await new Promise((resolve) => server.close(resolve)));
    },
    async hold(path) {
      const handle = await open(path);
      return async () => await handle.close();
    },
    async serve(answers) {
      const server = createServer((request, response) => {
        const { status, headers = {}, body = "", delayMs = 0 } = answers[request.url ?? ""] ?? { status: 404 };
        setTimeout(() => response.writeHead(status, headers).end(body), delayMs);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      closers.unshift(async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      });
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    async until(condition) {
      const deadline = Date.now() + 10_000;
      while (!condition() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(condition()).toBe(true);
    },
    async close() {
      for (const close of closers) await close();
    },
  };
}

export async function createFakeHostHarness(): Promise<HostHarness> {
  const host = createFakeHost();
  await host.files.makeDirectory("/test", 0o755);
  return {
    host,
    directory: "/test",
    makeFifo: async (path) => host.files.putSpecial(path, "other"),
    makeSymlink: async (target, path) => host.files.link(target, path),
    rename: async (from, to) => host.files.move(from, to),
    async mount(path) {
      host.files.mount(path);
      host.files.put(`${path}/precious`, "");
      return true;
    },
    makeSocket: async (path) => host.files.putSpecial(path, "socket"),
    async hold(path) {
      const release = host.mounts.hold(path);
      return async () => release();
    },
    async serve(answers) {
      const url = "http://fake.test";
      for (const [path, answer] of Object.entries(answers)) host.http.serve(url + path, answer);
      return url;
    },
    async until(condition) {
      for (let step = 0; step < 10_000 && !condition(); step++) await host.clock.advance(1);
      expect(condition()).toBe(true);
    },
    close: async () => undefined,
  };
}
