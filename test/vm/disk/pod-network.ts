import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Composes the network that a containerd of upstream's programs puts pods into: a bridge with addresses of the range. */
export function composePodNetwork(bridge: string, range: string): string {
  const ipam = { type: "host-local", ranges: [[{ subnet: range }]], routes: [{ dst: "0.0.0.0/0" }] };
  const plugins = [
    { type: "bridge", bridge, isGateway: true, ipMasq: true, hairpinMode: true, ipam },
    { type: "portmap", capabilities: { portMappings: true } },
  ];
  return JSON.stringify({ cniVersion: "0.4.0", name: bridge, plugins });
}

/** Writes that network to a file. */
export async function writePodNetwork(path: string, bridge: string, range: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, composePodNetwork(bridge, range));
}
