import type { PluginPorts } from "../../src/node/compose/node-agent-ports.ts";

const noPlugin = () => {
  throw new Error("there are no device plugins on this machine");
};

/** A machine without device plugins: nobody comes to the node agent's socket. */
export const NO_DEVICES: Pick<PluginPorts, "connectDevicePlugin" | "connectDraPlugin" | "serve"> = {
  connectDevicePlugin: noPlugin,
  connectDraPlugin: noPlugin,
  serve: async () => ({ close: async () => undefined }),
};
