import { expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { keepSocketServed } from "../local-sockets/keep-served.ts";
import { removeOldSockets } from "./remove-old-sockets.ts";

const DIRECTORY = "/var/lib/kubelet/device-plugins";

it("serves until the signal fires, and tries again while another serves", async () => {
  const { clock, files } = createFakeHost();
  const done: string[] = [];
  const answers: Array<Error | undefined> = [new Error("it is in use"), undefined];
  files.putSpecial(`${DIRECTORY}/plugin.sock`, "socket");
  files.putSpecial(`${DIRECTORY}/kubelet.sock`, "socket");
  files.put(`${DIRECTORY}/kubelet_internal_checkpoint`, "{}");
  const controller = new AbortController();
  const serving = keepSocketServed(
    {
      clock,
      files,
      log: silentLog,
      async serve({ path }) {
        done.push(`serve ${path}`);
        const answer = answers.shift();
        if (answer !== undefined) throw answer;
        return { close: async () => void done.push("close") };
      },
    },
    {
      directory: DIRECTORY,
      services: [],
      purpose: "Device plugins cannot register",
      prepare: async () => await removeOldSockets(files, DIRECTORY),
    },
    controller.signal,
  );
  await clock.settle();
  expect(done).toEqual([`serve ${DIRECTORY}/kubelet.sock`]);
  const left = await files.list(DIRECTORY);
  expect(left.map(({ name }) => name)).toEqual(["kubelet.sock", "kubelet_internal_checkpoint"]);
  await clock.advance(10_000);
  expect(done).toHaveLength(2);
  controller.abort();
  await serving.catch(() => undefined);
  expect(done.at(-1)).toBe("close");
});
