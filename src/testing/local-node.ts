/** A test's node, and the address at which the API server of the same test, and no other client, reaches it. */
export const LOCAL_NODE = { name: "test-node", address: "127.0.0.1" };
