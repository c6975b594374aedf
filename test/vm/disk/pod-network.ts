import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes the network that a containerd of upstream's programs puts pods into: a bridge with addresses of the range. */
export async function writePodNetwork(path: string, bridge: string, range: string): Promise<void> {
  const ipam = { type: "host-local", ranges: [[{ subnet: range }]], routes: [{ dst: "0.0.0.0/0" }] };
  const plugins = [
    { type: "bridge", bridge, isGateway: true, ipMasq: true, hairpinMode: true, ipam },
    { type: "portmap", capabilities: { portMappings: true } },
  ];
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify({ cniVersion: "0.4.0", name: bridge, plugins }));
}
