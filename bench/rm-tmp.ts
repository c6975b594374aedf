import { removeRuntime } from "../src/cluster/containerd/remove-runtime.ts";
import { readdir, readlink, rm } from "node:fs/promises";
const d = process.argv[2] ?? "";
await removeRuntime(`${d}/runtime`); await rm(d, { recursive: true, force: true });
for (const n of await readdir("/var/log/containers")) if ((await readlink(`/var/log/containers/${n}`)).startsWith(d)) await rm(`/var/log/containers/${n}`);
