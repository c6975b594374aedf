import { createServer } from "node:net";
import { expect, it } from "vitest";
import { CodedError } from "../../base/errors.ts";
import { PORT_TAKEN } from "../../host/http-server.ts";
import { choosePort, withChosenPort } from "./choose-port.ts";

const ADDRESS = "127.0.0.1";

it("gives the port that is wanted, and another while somebody listens there", async () => {
  const wanted = await choosePort(ADDRESS, 0);
  expect(await choosePort(ADDRESS, wanted)).toBe(wanted);
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(wanted, ADDRESS, resolve));
  try {
    const chosen = await choosePort(ADDRESS, wanted);
    expect(chosen).toBeGreaterThan(0);
    expect(chosen).not.toBe(wanted);
  } finally {
    await new Promise((resolve) => other.close(resolve));
  }
});

it("leaves it to the node agent to say that the address is not this machine's", async () => {
  expect(await choosePort("192.0.2.1", 10_250)).toBe(10_250);
});

it.each([
  ["whose port was taken meanwhile", new CodedError("exited", `…; ${PORT_TAKEN}: stop it`), 2],
  ["that ended for another reason", new CodedError("exited", "no such file"), 1],
])("starts a child %s as often as that helps", async (_name, failure, expected) => {
  let starts = 0;
  const start = async () => {
    starts++;
    return await Promise.reject(failure);
  };
  await expect(withChosenPort(start)).rejects.toThrow(failure);
  expect(starts).toBe(expected);
});
