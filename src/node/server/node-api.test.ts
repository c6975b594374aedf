import { expect, it } from "vitest";
import type { Log, LogFields } from "../../base/log.ts";
import { silentLog } from "../../base/log.ts";
import { createFakeRequest } from "../../host/fake/fake-request.ts";
import type { Authenticate } from "./authenticate.ts";
import type { AuthorizeNodeAction, NodeAction } from "./authorize.ts";
import type { EndpointGates } from "./endpoint-gates.ts";
import { createNodeApi } from "./node-api.ts";

const user = { name: "bob", groups: [], extra: {} };
const ALL: EndpointGates = { debuggingHandlers: true, systemLogHandler: true };

interface World {
  authenticate?: Authenticate;
  /** The subresources that the user may use. */
  allowed?: readonly string[];
  authorize?: AuthorizeNodeAction;
  options?: Partial<EndpointGates>;
  log?: Log;
  now?: () => number;
}

function createWorld({ authenticate, allowed = [], authorize, options, log = silentLog, now = () => 0 }: World = {}) {
  const actions: NodeAction[] = [];
  const vouched: string[] = [];
  const handler = createNodeApi(
    {
      authenticate: authenticate ?? (async () => ({ kind: "user", user })),
      authorize: async (action, asker) => {
        actions.push(action);
        return authorize === undefined ? allowed.includes(action.subresource) : await authorize(action, asker);
      },
      readOnly: ({ path }) => ({ status: path === "/pods" ? 200 : 404, body: `read-only ${path}` }),
      configz: () => '{"kubeletconfig":{}}',
      endpoints: {
        "/logs": () => ({ status: 200, body: "the node's logs" }),
        "/exec": ({ path }) => ({ status: 200, body: `exec ${path}` }),
        "/exec/a/longer": () => ({ status: 200, body: "the longer root" }),
      },
      clock: { monotonic: now },
      log,
    },
    { ...ALL, ...options },
  );
  const ask = async (path: string, method = "GET", signal = new AbortController().signal) => {
    const vouch = () => void vouched.push(path);
    return await handler({ ...createFakeRequest(path, { method, signal }), vouch });
  };
  return { ask, actions, vouched };
}

it("lets nobody in who is not known, and closes the connection", async () => {
  const { ask, actions } = createWorld({ authenticate: async () => ({ kind: "refused", reason: undefined }) });
  expect(await ask("/pods")).toEqual({ status: 401, body: "Unauthorized", closes: true });
  expect(actions).toEqual([]);
});

it.each<[string, Awaited<ReturnType<Authenticate>>, string[]]>([
  ["somebody proven", { kind: "user", user: { ...user, groups: ["system:authenticated"] } }, ["/pods"]],
  ["somebody anonymous", { kind: "user", user: { ...user, groups: ["system:unauthenticated"] } }, []],
  ["somebody refused", { kind: "refused", reason: "no" }, []],
])("vouches for the connection of %s as it should", async (_who, authentication, expected) => {
  const { ask, vouched } = createWorld({ authenticate: async () => authentication });
  await ask("/pods");
  expect(vouched).toEqual(expected);
});

it.each([
  ["/metrics", "GET", "Forbidden (user=bob, verb=get, resource=nodes, subresource(s)=[metrics])\n"],
  ["/pods", "GET", "Forbidden (user=bob, verb=get, resource=nodes, subresource(s)=[pods proxy])\n"],
  ["/exec/a/b/c", "POST", "Forbidden (user=bob, verb=create, resource=nodes, subresource(s)=[proxy])\n"],
])("refuses %s by %s in upstream's words", async (path, method, body) => {
  expect(await createWorld().ask(path, method)).toEqual({ status: 403, body });
});

it.each([
  ["/pods", ["pods"], ["pods"]],
  ["/pods", ["proxy"], ["pods", "proxy"]],
])("serves %s to who may use %j, asking for %j", async (path, allowed, asked) => {
  const { ask, actions } = createWorld({ allowed });
  expect(await ask(path)).toEqual({ status: 200, body: "read-only /pods" });
  expect(actions.map(({ subresource }) => subresource)).toEqual(asked);
});

it("does not take a failed question for a no", async () => {
  const authorize = async () => await Promise.reject(new Error("connect ECONNREFUSED"));
  expect(await createWorld({ authorize }).ask("/pods")).toEqual({
    status: 500,
    body: "Authorization error (user=bob, verb=get, resource=nodes, subresource=pods)",
  });
});

const proxy = ["proxy", "stats", "log", "checkpoint", "metrics", "configz"];
it.each<[string, Partial<EndpointGates>, number, RegExp]>([
  ["/configz", {}, 200, /^\{"kubeletconfig":\{\}\}$/],
  ["/configz", { debuggingHandlers: false }, 404, /^404 page not found$/m],
  ["/", {}, 404, /^404 page not found$/m],
  ["/nothing", {}, 404, /^404 page not found$/m],
  ["/podsx", {}, 404, /^404 page not found$/m],
  ["/exec/a/b/c", {}, 200, /^exec \/exec\/a\/b\/c$/],
  ["/exec/a/longer/c", {}, 200, /^the longer root$/],
  ["/execute", {}, 404, /^404 page not found$/m],
  ["/debug/flags/v", {}, 501, /--v/],
  ["/exec/a/b/c", { debuggingHandlers: false }, 405, /^Debug endpoints are disabled\.$/m],
  ["/runningpods/", { debuggingHandlers: false }, 405, /^Debug endpoints are disabled\.$/m],
  ["/logs/", {}, 200, /^the node's logs$/],
  ["/logs/", { systemLogHandler: false }, 405, /^logs endpoint is disabled\.$/m],
  ["/stats/", {}, 404, /^404 page not found$/m],
  ["/pods", { debuggingHandlers: false }, 200, /read-only/],
])("answers %s with %j: %i", async (path, options, status, body) => {
  const answer = await createWorld({ allowed: proxy, options }).ask(path);
  expect(answer).toMatchObject({ status, body: expect.stringMatching(body) });
});

it("tells of paths that are not there, and asks nobody, as upstream does", async () => {
  const { ask, actions } = createWorld({ authenticate: async () => ({ kind: "refused", reason: undefined }) });
  expect(await ask("/")).toEqual({ status: 404, body: "404 page not found\n" });
  expect(actions).toEqual([]);
});

it("complains once a minute, however often it is given reason to", async () => {
  const logged: Array<[string, LogFields | undefined]> = [];
  const log = { ...silentLog, warn: (message: string, fields?: LogFields) => void logged.push([message, fields]) };
  let now = 0;
  const { ask } = createWorld({ log, now: () => now, authenticate: async () => ({ kind: "refused", reason: "bad" }) });
  for (let time = 0; time < 1000; time++) await ask("/pods");
  expect(logged).toEqual([["Unable to authenticate the request due to an error", { error: "bad" }]]);
  now = 60_000;
  await ask("/pods");
  expect(logged[1]?.[1]).toEqual({ error: "bad", alsoSince: 999 });
});
