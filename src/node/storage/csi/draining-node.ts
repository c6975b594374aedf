import type { CsiNode } from "../../../csi/port.ts";

/** A driver's client that can be retired while callers still use it. */
export interface DrainingNode {
  /** Passes every call on. Its `close` is the client's, and cancels the calls in flight. */
  readonly node: CsiNode;
  /** Closes the client as soon as no call is under way. A call that comes later finds it closed. */
  retire(): void;
}

/** The calls of the client are bounded in time, and so is the wait for them. */
export function createDrainingNode(client: CsiNode): DrainingNode {
  let calls = 0;
  let isRetired = false;
  let isClosed = false;

  const close = () => {
    if (isClosed) return;
    isClosed = true;
    client.close();
  };
  const count = async <T>(call: () => Promise<T>): Promise<T> => {
    calls++;
    try {
      return await call();
    } finally {
      calls--;
      if (isRetired && calls === 0) close();
    }
  };

  return {
    node: {
      pluginInfo: async (options) => count(async () => client.pluginInfo(options)),
      info: async (options) => count(async () => client.info(options)),
      capabilities: async (options) => count(async () => client.capabilities(options)),
      stage: async (request, options) => count(async () => client.stage(request, options)),
      unstage: async (request, options) => count(async () => client.unstage(request, options)),
      publish: async (request, options) => count(async () => client.publish(request, options)),
      unpublish: async (request, options) => count(async () => client.unpublish(request, options)),
      expand: async (request, options) => count(async () => client.expand(request, options)),
      stats: async (request, options) => count(async () => client.stats(request, options)),
      close,
    },
    retire() {
      isRetired = true;
      if (calls === 0) close();
    },
  };
}
