import type { ApiCaseContext } from "./api-case.ts";
import type { ApiServer } from "./api-server.ts";
import { connect } from "./connection.ts";
import { createPod, prepareNamespace } from "./workload.ts";

const CLIENTS = 8;

/** Creates as many pods as are listed and weighed, through the API. */
export async function fillServer({ sizes, signal }: ApiCaseContext, { endpoint }: ApiServer): Promise<void> {
  const connection = connect(endpoint, { protocol: "HTTP/1.1", connections: CLIENTS });
  let created = 0;
  const client = async () => {
    while (created < sizes.apiPods) {
      signal.throwIfAborted();
      await createPod(connection, created++);
    }
  };
  try {
    await prepareNamespace(connection);
    await Promise.all(Array.from({ length: CLIENTS }, client));
  } finally {
    connection.close();
  }
}
