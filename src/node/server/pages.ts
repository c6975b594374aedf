import type { Page } from "../../host/http-server.ts";
import type { NodeView, StatisticsPage } from "./handlers.ts";
import type { NodeEndpoint } from "./node-api.ts";

const NOT_FOUND: Page = { status: 404, body: "404 page not found\n" };

/** The pages as endpoints of the node's own API, which serve their paths and nothing beneath them. */
export function createPageEndpoints({ statistics }: Pick<NodeView, "statistics">): Record<string, NodeEndpoint> {
  const exactly = ([path, page]: [string, StatisticsPage]): [string, NodeEndpoint] => {
    return [path, (request) => (request.path === path ? page(request) : NOT_FOUND)];
  };
  return Object.fromEntries(Object.entries(statistics).map(exactly));
}
