import type { PluginPorts } from "../../src/node/compose/node-agent-ports.ts";

/** A machine without device plugins: nobody comes to the node agent's socket. */
export const NO_DEVICES: Pick<PluginPorts, "connectDevicePlugin" | "serve"> = {
  connectDevicePlugin() {
    throw new Error("there are no device plugins on this machine");
  },
  serve: async () => ({ close: async () => undefined }),
};
