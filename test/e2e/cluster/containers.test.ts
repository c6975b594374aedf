import { mkdir, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { claimPort } from "../../machine/claims.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { readRunningContainers } from "../runtime-state.ts";
import { type ClusterNode, createClusterNode } from "./cluster-node.ts";
import { settlesOn } from "./settles.ts";

const hasEnded = (pod: Pod) => containerOf(pod, "main")?.state?.terminated !== undefined;

describe("what containers are given of the machine", () => {
  let world: ClusterNode;
  beforeAll(async () => {
    world = await createClusterNode();
    await world.node.start(world.flags);
  });
  afterAll(async () => await world?.destroy());

  const run = async (name: string, container: object, spec: object = {}, script = RUN_FOR_EVER) => {
    await world.create(shellPod(name, script, spec, container));
    return await world.pod(name, isRunning);
  };
  /** The configuration that the runtime keeps of a container, as it was asked for over CRI. */
  const askedOf = async (pod: string): Promise<Record<string, unknown>> => {
    const [container] = (await readRunningContainers(world.node)).filter((running) => running.pod === pod);
    const request = { containerId: container?.id ?? "", verbose: true };
    const { info } = await world.node.cri.runtime.containerStatus(request);
    return JSON.parse(info["info"] ?? "{}").config;
  };

  describe("standard input and terminals", () => {
    // What the container's own process sees; what is executed in it has streams of its own.
    const LOOK = `{ if [ -t 0 ]; then tty <&0; else echo none; fi; readlink /proc/self/fd/0; } > /tmp/seen 2>&1; ${RUN_FOR_EVER}`;
    const seen = async (name: string) => {
      let text = "";
      await settlesOn(true, async () => {
        text = await world.shell(name, "cat /tmp/seen");
        return text.split("\n").length >= 3;
      });
      return text.split("\n");
    };

    it.concurrent.each<[string, object, RegExp, RegExp, object]>([
      ["none", {}, /^none$/, /^\/dev\/null$/, { stdin: false, stdinOnce: false, tty: false }],
      ["tty", { tty: true }, /^\/dev\//, /^\/dev\/(pts\/0|console)$/, { stdin: false, tty: true }],
      ["stdin", { stdin: true }, /^none$/, /^pipe:/, { stdin: true, stdinOnce: false, tty: false }],
      ["once", { stdin: true, stdinOnce: true }, /^none$/, /^pipe:/, { stdin: true, stdinOnce: true }],
      ["both", { stdin: true, tty: true }, /^\/dev\//, /^\/dev\/(pts\/0|console)$/, { stdin: true, tty: true }],
    ])("%s", async (name, fields, terminal, input, asked) => {
      await run(`io-${name}`, fields, {}, LOOK);
      const [first, second] = await seen(`io-${name}`);
      expect(first).toMatch(terminal);
      expect(second).toMatch(input);
      const { stdin = false, stdin_once: stdinOnce = false, tty = false } = await askedOf(`io-${name}`);
      expect({ stdin, stdinOnce, tty }).toMatchObject(asked);
    });

    it.concurrent("input that nobody gives is waited for where it is asked for, and is at its end where it is not", async () => {
      const script = `read x; echo "read: $?" > /tmp/seen; ${RUN_FOR_EVER}`;
      await run("no-input", {}, {}, script);
      await settlesOn("read: 1\n", async () => await world.shell("no-input", "cat /tmp/seen"));
      await run("open-input", { stdin: true }, {}, script);
      expect(await world.shell("open-input", "sleep 1; ls /tmp")).toBe("");
    });
  });

  it.concurrent("devices: the usual few, and those of the machine for who is privileged", async () => {
    await run("devices", {});
    const usual = (await world.exec("devices", ["ls", "/dev"])).split("\n").filter((name) => name !== "");
    expect(usual).toEqual(expect.arrayContaining(["full", "null", "ptmx", "random", "shm", "urandom", "zero"]));
    expect(usual).not.toContain("loop0");
    expect(await world.shell("devices", "head -c 4 /dev/zero | wc -c; mknod /x b 7 0 && cat /x 2>&1 || true")).toMatch(
      /^4\n.*not permitted/,
    );
    await run("all-devices", { securityContext: { privileged: true } });
    const all = (await world.exec("all-devices", ["ls", "/dev"])).split("\n");
    const host = (await readdir("/dev")).filter((name) => /^(kmsg|loop-control|fuse|tty1)$/.test(name));
    expect(all).toEqual(expect.arrayContaining(host));
  });

  it.concurrent("hides parts of /proc and /sys, but not from who is privileged", async () => {
    await run("masked", {});
    expect(await world.shell("masked", "cat /proc/kcore | wc -c; cat /proc/timer_list | wc -c")).toBe("0\n0\n");
    await expect(world.shell("masked", "echo 1 > /proc/sys/kernel/panic")).rejects.toThrow(/Read-only file system/);
    await expect(world.shell("masked", "touch /sys/x")).rejects.toThrow(/Read-only file system/);
    await run("unmasked", { securityContext: { privileged: true } });
    expect(await world.shell("unmasked", "wc -c < /proc/timer_list")).not.toBe("0\n");
    await world.shell("unmasked", "cat /proc/sys/kernel/panic > /proc/sys/kernel/panic");
  });

  it.concurrent("the whole of /proc is shown only to users of the pod's own", async () => {
    const spec = shellPod("proc-mount", RUN_FOR_EVER, {}, { securityContext: { procMount: "Unmasked" } });
    await expect(world.create(spec)).rejects.toThrow(/procMount/);
  });

  it.concurrent("namespaces of the machine where they are asked for, and no others", async () => {
    const kinds = ["pid", "ipc", "net", "uts"];
    const own = await Promise.all(kinds.map(async (kind) => await readlink(`/proc/self/ns/${kind}`)));
    const sharedBy = async (name: string) => {
      const links = (await world.shell(name, `for kind in ${kinds.join(" ")}; do readlink /proc/self/ns/$kind; done`))
        .trim()
        .split("\n");
      return kinds.filter((_, index) => links[index] === own[index]);
    };
    for (const [name, spec, shared] of [
      ["ns-none", {}, []],
      ["ns-pid", { hostPID: true }, ["pid"]],
      ["ns-ipc", { hostIPC: true }, ["ipc"]],
      ["ns-net", { hostNetwork: true }, ["net", "uts"]],
      ["ns-all", { hostPID: true, hostIPC: true, hostNetwork: true }, kinds],
    ] as const) {
      await run(name, {}, spec);
      expect(await sharedBy(name), name).toEqual(shared);
    }
  });

  it.concurrent("containers of a pod see each other's processes where they are told to, and always each other's shared memory", async () => {
    for (const shareProcessNamespace of [true, false]) {
      const name = `share-${shareProcessNamespace}`;
      const { image, command } = { image: "localhost/nodelet/demo:1", command: ["sleep", "100000"] };
      const containers = ["main", "other"].map((container) => ({ name: container, image, command }));
      await run(name, {}, { shareProcessNamespace, containers });
      const processes = await world.exec(name, ["ps", "-o", "args"]);
      expect(processes.match(/sleep 100000/g)).toHaveLength(shareProcessNamespace ? 2 : 1);
      await world.exec(name, ["sh", "-c", "echo hello > /dev/shm/x"], "other");
      expect(await world.exec(name, ["cat", "/dev/shm/x"])).toBe("hello\n");
    }
  });

  describe("seccomp profiles of the node", () => {
    it.concurrent("come from its directory, and forbid what they say", async () => {
      const directory = join(world.node.directory, "kubelet", "seccomp", "profiles");
      await mkdir(directory, { recursive: true });
      const profile = {
        defaultAction: "SCMP_ACT_ALLOW",
        syscalls: [{ names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO" }],
      };
      await writeFile(join(directory, "no-mkdir.json"), JSON.stringify(profile));
      const seccompProfile = { type: "Localhost", localhostProfile: "profiles/no-mkdir.json" };
      await run("seccomp-file", { securityContext: { seccompProfile } });
      await expect(world.exec("seccomp-file", ["mkdir", "/x"])).rejects.toThrow(/not permitted/);
      await world.exec("seccomp-file", ["touch", "/x"]);
      await run("seccomp-none", {});
      await world.exec("seccomp-none", ["mkdir", "/x"]);
    });

    it.concurrent("of the runtime forbid what nobody needs", async () => {
      await run("seccomp-default", { securityContext: { seccompProfile: { type: "RuntimeDefault" } } });
      await expect(world.exec("seccomp-default", ["unshare", "-U", "true"])).rejects.toThrow(/not permitted/);
    });
  });

  it.concurrent.each<[string, object, object]>([
    ["a container's", {}, { securityContext: { appArmorProfile: { type: "RuntimeDefault" } } }],
    ["a pod's", { securityContext: { appArmorProfile: { type: "Localhost", localhostProfile: "x" } } }, {}],
  ])("AppArmor is refused where the machine has none: %s", async (what, spec, container) => {
    const enabled = await readFile("/sys/module/apparmor/parameters/enabled", "utf8").catch(() => "N");
    if (enabled.startsWith("Y")) return;
    const name = what === "a pod's" ? "armor-pod" : "armor-container";
    await world.create(shellPod(name, RUN_FOR_EVER, spec, container));
    const { status } = await world.pod(name, (pod) => pod.status?.phase === "Failed");
    const message = "Cannot enforce AppArmor: AppArmor is not enabled on the host";
    expect(status).toMatchObject({ reason: "AppArmor", message: `Pod was rejected: ${message}` });
    expect(status?.containerStatuses).toBeUndefined();
    await world.event(name, { type: "Warning", reason: "AppArmor", message });
  });

  describe("what a container says as it ends", () => {
    const long = "for i in $(seq 100); do echo line $i; done";
    it.concurrent.each<[string, string, object, string | undefined]>([
      ["logs-on-error", "echo why; exit 3", { terminationMessagePolicy: "FallbackToLogsOnError" }, "why\n"],
      [
        "file-first",
        "echo no; printf yes > /dev/termination-log; exit 3",
        { terminationMessagePolicy: "FallbackToLogsOnError" },
        "yes",
      ],
      ["no-logs-of-success", "echo why; exit 0", { terminationMessagePolicy: "FallbackToLogsOnError" }, undefined],
      ["no-logs-of-file", "echo why; exit 3", { terminationMessagePolicy: "File" }, undefined],
      ["other-path", "printf there > /tmp/why; exit 3", { terminationMessagePath: "/tmp/why" }, "there"],
      [
        "last-lines",
        `${long}; exit 3`,
        { terminationMessagePolicy: "FallbackToLogsOnError" },
        `${Array.from({ length: 80 }, (_, index) => `line ${index + 21}`).join("\n")}\n`,
      ],
      ["cut", "head -c 9000 /dev/zero | tr '\\0' x > /dev/termination-log; exit 3", {}, "x".repeat(4_096)],
    ])("%s", async (name, script, container, message) => {
      await world.create(shellPod(name, script, { restartPolicy: "Never" }, container));
      const pod = await world.pod(name, hasEnded);
      expect(containerOf(pod, "main")?.state?.terminated?.message).toBe(message);
    });
  });

  describe("host ports", () => {
    const serve = "mkdir /tmp/www; echo hello > /tmp/www/index.html; exec httpd -f -p 8080 -h /tmp/www";
    const get = async (address: string) =>
      await fetch(`http://${address}/`, { signal: AbortSignal.timeout(2_000) }).then(
        async (answer) => await answer.text(),
        () => "",
      );

    it("lead to the container from loopback and from the node's address, and go with the pod", async () => {
      const hostPort = await claimPort();
      const command = ["sh", "-c", serve];
      const { status } = await run("tcp", { command, ports: [{ containerPort: 8080, hostPort }] });
      await settlesOn("hello\n", async () => await get(`127.0.0.1:${hostPort}`));
      await settlesOn("hello\n", async () => await get(`${status?.hostIP}:${hostPort}`));
      await world.remove("tcp");
      await world.gone("tcp");
      for (const host of ["127.0.0.1", status?.hostIP]) expect(await get(`${host}:${hostPort}`)).toBe("");
    });

    it("are of one address where one is named", async () => {
      const hostPort = await claimPort();
      const command = ["sh", "-c", serve];
      const ports = [{ containerPort: 8080, hostPort, hostIP: "127.0.0.1" }];
      const { status } = await run("tcp-loopback", { command, ports });
      await settlesOn("hello\n", async () => await get(`127.0.0.1:${hostPort}`));
      expect(await get(`${status?.hostIP}:${hostPort}`)).toBe("");
    });
  });
});
