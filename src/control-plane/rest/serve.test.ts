import { expect, it } from "vitest";
import { ApiError } from "../../api/api-error.ts";
import { silentLog } from "../../base/log.ts";
import { createMetrics } from "../../base/metrics.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createFakeRequest } from "../../host/fake/fake-request.ts";
import { ANONYMOUS, AUTHENTICATED } from "../access/authenticate.ts";
import type { User } from "../ports/user.ts";
import { createRequestObserver } from "./observe-requests.ts";
import { createApiHandler } from "./serve.ts";

const bob: User = { username: "bob", groups: [AUTHENTICATED] };
const unused = (): never => {
  throw new Error("no resource is asked for");
};

it.each<[string, () => User, number, number]>([
  ["a user", () => bob, 200, 1],
  ["the anonymous", () => ANONYMOUS, 200, 0],
  [
    "a wrong token",
    () => {
      throw new ApiError("Unauthorized", "Unauthorized");
    },
    401,
    0,
  ],
])("answers %s, and vouches only for who has proven to be somebody", async (_who, authenticate, status, times) => {
  let vouched = 0;
  const handler = createApiHandler({
    users: { authenticate, impersonate: (user) => user },
    authorize: () => ({ allowed: true, reason: "" }),
    flowControl: { classify: () => undefined, enter: unused },
    forward: () => undefined,
    resources: {
      get registry() {
        return unused();
      },
      clock: createFakeClock(),
      get watch() {
        return unused();
      },
      authorize: unused,
      handlers: new Map(),
      connects: new Map(),
      computed: new Map(),
      noteRequest: () => undefined,
    },
    servePath: async () => ({ status: 200, body: "ok" }),
    observer: createRequestObserver(createMetrics(), () => undefined),
    clock: createFakeClock(),
    log: silentLog,
    newRequestId: () => "1",
    noteRequest: () => undefined,
  });
  const request = { ...createFakeRequest("/version"), vouch: () => void vouched++ };
  expect((await handler(request)).status).toBe(status);
  expect(vouched).toBe(times);
});
