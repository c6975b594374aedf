import { createCapacitySettings } from "../resources/capacity/capacity-settings.ts";
import { createNodeMemory, type NodeMemory } from "../resources/memory/node-memory.ts";
import type { Foundation } from "./foundation.ts";

/** Undefined: all containers share all memory. Rejects where machine, configuration and checkpoint do not fit together. */
export async function composeMemory({ ports, config }: Foundation): Promise<NodeMemory | undefined> {
  const { host, metrics } = ports;
  const { files, machine } = host;
  const { kubelet, rootDirectory } = config;
  return await createNodeMemory(
    { files, machine, metrics },
    {
      isStatic: kubelet.memoryManagerPolicy === "Static",
      reservedMemory: kubelet.reservedMemory ?? [],
      reservations: createCapacitySettings(config).reservations,
      directory: rootDirectory,
    },
  );
}
