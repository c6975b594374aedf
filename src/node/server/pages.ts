import type { Page, PageHandler } from "../../host/http-server.ts";
import type { NodeView, StatisticsPage } from "./handlers.ts";
import type { NodeEndpoint } from "./node-api.ts";

const NOT_FOUND: Page = { status: 404, body: "404 page not found\n" };

/** Turns the pages into endpoints of the node's own API, which serve their own paths and nothing below them. */
export function createPageEndpoints(
  { statistics }: Pick<NodeView, "statistics">,
  /** Says how each page is served. */
  share: (page: StatisticsPage) => PageHandler = (page) => page,
): Record<string, NodeEndpoint> {
  const exactly = ([path, page]: [string, StatisticsPage]): [string, NodeEndpoint] => {
    const shared = share(page);
    return [path, (request) => (request.path === path ? shared(request) : NOT_FOUND)];
  };
  return Object.fromEntries(Object.entries(statistics).map(exactly));
}
