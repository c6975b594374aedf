/** A test's node, and where the API server of the same test reaches it: nobody else does. */
export const LOCAL_NODE = { name: "test-node", address: "127.0.0.1" };
