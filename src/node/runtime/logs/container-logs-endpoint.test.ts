import { describe, expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { createAnswerReader } from "./__fixtures__/answer-reader.ts";
import { createLogRig, line } from "./__fixtures__/log-rig.ts";
import { createContainerLogsEndpoint } from "./container-logs-endpoint.ts";

const POD: Pod = {
  metadata: { namespace: "ns", name: "web" },
  spec: { containers: [{ name: "main" }, { name: "waiting" }] },
  status: {
    containerStatuses: ["main", "waiting"].map((name) => ({
      name,
      image: "",
      imageID: "",
      ready: true,
      restartCount: 0,
      ...(name === "main"
        ? { containerID: "containerd://id", state: { running: {} } }
        : { state: { waiting: { reason: "ContainerCreating" } } }),
    })),
  },
};

function createRig({ splitStreams = false } = {}) {
  const rig = createLogRig();
  const findPod = (namespace: string, name: string) => (namespace === "ns" && name === "web" ? POD : undefined);
  const endpoint = createContainerLogsEndpoint(
    { ...rig.deps, findPod },
    { podLogsDirectory: "/var/log/pods/", splitStreams },
  );
  return { ...rig, ask: createAnswerReader(endpoint) };
}

it.each<[string, number, string]>([
  ["/containerLogs", 400, '{"message": "Missing podID."}'],
  ["/containerLogs/ns", 400, '{"message": "Missing podID."}'],
  ["/containerLogs/ns/web", 400, '{"message": "Missing container name."}'],
  ["/containerLogs//web/main", 400, '{"message": "Missing podNamespace."}'],
  ["/containerLogs/ns/web/main/more", 404, "404: Page Not Found"],
  ["/containerLogs/ns/web/main?tailLines=x", 400, '{"message": "Unable to decode query."}'],
  ["/containerLogs/ns/web/main?limitBytes=0", 422, '{"message": "Invalid request."}'],
  ["/containerLogs/ns/nobody/main", 404, 'pod "nobody" does not exist'],
  ["/containerLogs/ns/web/side", 404, 'container "side" not found in pod "web"'],
  ["/containerLogs/ns/web/..", 404, 'container ".." not found in pod "web"'],
  ["/containerLogs/ns/web/waiting", 400, 'container "waiting" in pod "web" is waiting to start: ContainerCreating'],
  [
    "/containerLogs/ns/web/main?stream=Stdout",
    400,
    'unable to return the given log stream: "Stdout". Please enable PodLogsQuerySplitStreams feature gate in kubelet',
  ],
])("answers %s with %i", async (target, status, body) => {
  expect(await createRig().ask(target)).toMatchObject({ status, body });
});

it("answers other methods with 405", async () => {
  expect(await createRig().ask("/containerLogs/ns/web/main", { method: "POST" })).toMatchObject({ status: 405 });
});

describe("of a container that runs", () => {
  it("gives the log", async () => {
    const { append, ask } = createRig();
    append(line("text"));
    expect(await ask("/containerLogs/ns/web/main")).toMatchObject({ status: 200, body: "text\n" });
  });

  it("gives one stream where that is allowed", async () => {
    const { append, ask } = createRig({ splitStreams: true });
    append(line("out") + line("err", { stream: "stderr" }));
    expect((await ask("/containerLogs/ns/web/main?stream=Stderr")).body).toBe("err\n");
  });

  it("says in upstream's words that the runtime knows it no more", async () => {
    const { setState, ask } = createRig();
    setState("gone");
    expect(await ask("/containerLogs/ns/web/main")).toMatchObject({
      status: 200,
      body: "unable to retrieve container logs for containerd://id",
    });
  });

  it("says what is wrong with the log at the end of the answer", async () => {
    const { files, ask } = createRig();
    files.putSpecial("/var/log/pods/ns_pod_uid/main/0.log", "other");
    const { status, body } = await ask("/containerLogs/ns/web/main");
    expect(status).toBe(200);
    expect(body).toMatch(/^failed to open log file "\/var\/log\/pods\/ns_pod_uid\/main\/0.log": EINVAL/);
  });
});
