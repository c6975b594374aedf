import { describe, expect, it } from "vitest";
import { ContainerState } from "../../../cri/gen/cri-v1.ts";
import { createLogRig, LOG, line } from "./__fixtures__/log-rig.ts";

describe("reading once", () => {
  it.each([
    ["all of it", {}, "a\nb\nc\n"],
    ["its last lines", { tailLines: 2 }, "b\nc\n"],
    ["none of its lines", { tailLines: 0 }, ""],
    ["so many bytes", { limitBytes: 3 }, "a\nb"],
    ["with times of nine digits", { tailLines: 1, timestamps: true }, "2026-01-02T03:04:02.500000000Z c\n"],
    ["so many bytes, times included", { limitBytes: 12, timestamps: true }, "2026-01-02T0"],
    [
      "since a time",
      { since: { seconds: Date.parse("2026-01-02T03:04:01Z") / 1_000, nanoseconds: 500_000_000 } },
      "b\nc\n",
    ],
    ["one stream", { stream: "Stderr" as const }, "b\n"],
  ])("gives %s", async (_what, options, expected) => {
    const rig = createLogRig();
    rig.append(line("a") + line("b", { second: 1, stream: "stderr" }) + line("c", { second: 2 }));
    const { client, done } = rig.read(options);
    await done;
    expect(client.received).toBe(expected);
  });

  it("gives what there is of a last line that is not whole", async () => {
    const rig = createLogRig();
    rig.append(line("a") + line("half").slice(0, -3));
    const { client, done } = rig.read();
    await done;
    expect(client.received).toBe("a\nha");
  });

  it("comes to an end although the container writes faster than the client reads", async () => {
    const rig = createLogRig();
    rig.append(line("x".repeat(16_000)).repeat(20));
    const { client, done } = rig.read();
    client.isStalled = true;
    await rig.clock.settle();
    rig.append(line("late").repeat(100_000));
    client.isStalled = false;
    client.release();
    await done;
    expect(client.received).toBe(`${"x".repeat(16_000)}\n`.repeat(20));
  });

  it("waits a moment for a log that is being rotated, and says in upstream's words that there is none", async () => {
    const rig = createLogRig();
    const rotating = rig.read();
    await rig.clock.advance(300);
    rig.append(line("back"));
    await rig.clock.advance(200);
    await rotating.done;
    expect(rotating.client.received).toBe("back\n");
    rig.files.delete(LOG);
    const missing = rig.read();
    await rig.clock.advance(2_000);
    await expect(missing.done).rejects.toThrow(
      `failed to try resolving symlinks in path "${LOG}": lstat ${LOG}: no such file or directory`,
    );
  });

  it.each([
    ["a FIFO", "EINVAL"],
    ["a link to a file of the node", "ELOOP"],
    ["a link to another log", "ELOOP"],
  ])("refuses %s at once", async (what, code) => {
    const rig = createLogRig();
    rig.files.put("/etc/shadow", line("secret"));
    rig.files.put("/var/log/pods/other/0.log", line("secret"));
    await rig.files.makeDirectory("/var/log/pods/ns_pod_uid/main", 0o755);
    if (what === "a FIFO") rig.files.putSpecial(LOG, "other");
    else await rig.files.link(what === "a link to another log" ? "../../other/0.log" : "/etc/shadow", LOG);
    const { client, done } = rig.read({ follow: true });
    await expect(done).rejects.toThrow(code);
    expect(client.received).toBe("");
  });
});

describe("following", () => {
  it("gives what comes until the container has ended, its last words included", async () => {
    const rig = createLogRig();
    rig.append(line("a"));
    const { client, hasEnded } = rig.read({ follow: true });
    await rig.clock.settle();
    expect(client.received).toBe("a\n");
    rig.append(line("b"));
    await rig.clock.settle();
    expect(client.received).toBe("a\nb\n");
    rig.setState(ContainerState.CONTAINER_EXITED);
    await rig.clock.settle();
    rig.append(line("last words"));
    await rig.clock.advance(200);
    expect([client.received, hasEnded()]).toEqual(["a\nb\nlast words\n", true]);
  });

  it("ends at once for a container that has ended, or is gone", async () => {
    for (const state of [ContainerState.CONTAINER_EXITED, "gone"] as const) {
      const rig = createLogRig();
      rig.append(line("a"));
      rig.setState(state);
      const { client, hasEnded } = rig.read({ follow: true });
      await rig.clock.settle();
      expect([client.received, hasEnded()]).toEqual(["a\n", true]);
    }
  });

  it("goes on while the runtime is away", async () => {
    const rig = createLogRig();
    rig.append(line("a"));
    const { client, hasEnded, abort } = rig.read({ follow: true });
    rig.setState("away");
    await rig.clock.advance(60_000);
    rig.append(line("b"));
    await rig.clock.settle();
    expect([client.received, hasEnded()]).toEqual(["a\nb\n", false]);
    abort();
  });

  it("neither loses nor doubles a line where the log is rotated, what still comes into the old file included", async () => {
    const rig = createLogRig();
    rig.append(line("1"));
    const { client, abort } = rig.read({ follow: true });
    await rig.clock.settle();
    rig.append(line("2"));
    rig.rotate("20260102-030405");
    rig.append(line("3"), `${LOG}.20260102-030405`);
    await rig.clock.advance(500);
    rig.append(line("4"), `${LOG}.20260102-030405`);
    rig.append(line("5"));
    await rig.clock.advance(500);
    expect(client.received).toBe("1\n2\n3\n4\n5\n");
    abort();
  });

  it("gives a client that stalls over several rotations all of them, although their files are gone by then", async () => {
    const rig = createLogRig();
    rig.append(line("1"));
    const { client, abort } = rig.read({ follow: true });
    await rig.clock.settle();
    client.isStalled = true;
    rig.append(line("2"));
    await rig.clock.settle();
    for (const [index, name] of ["20260102-030405", "20260102-030406", "20260102-030407"].entries()) {
      rig.rotate(name);
      rig.append(line(String(index + 3)));
      await rig.clock.advance(3_000);
      rig.files.delete(`${LOG}.${name}`);
    }
    client.isStalled = false;
    client.release();
    await rig.clock.advance(500);
    expect(client.received).toBe("1\n2\n3\n4\n5\n");
    abort();
  });

  it("begins anew where the file is emptied in place", async () => {
    const rig = createLogRig();
    rig.append(line("1") + line("2"));
    const { client, abort } = rig.read({ follow: true });
    await rig.clock.settle();
    rig.files.put(LOG, line("3"));
    await rig.clock.settle();
    expect(client.received).toBe("1\n2\n3\n");
    abort();
  });

  it("begins with the last lines and then gives all that comes", async () => {
    const rig = createLogRig();
    rig.append(line("1") + line("2"));
    const { client, abort } = rig.read({ follow: true, tailLines: 1 });
    await rig.clock.settle();
    rig.append(line("3") + line("4"));
    await rig.clock.settle();
    expect(client.received).toBe("2\n3\n4\n");
    abort();
  });

  it("ends when so many bytes are sent", async () => {
    const rig = createLogRig();
    rig.append(line("1"));
    const { client, hasEnded } = rig.read({ follow: true, limitBytes: 3 });
    await rig.clock.settle();
    rig.append(line("234"));
    await rig.clock.settle();
    expect([client.received, hasEnded()]).toEqual(["1\n2", true]);
  });

  it("leaves nothing behind when the client goes: no timer, no open file", async () => {
    const rig = createLogRig();
    rig.append(line("1"));
    const { done, abort } = rig.read({ follow: true });
    await rig.clock.settle();
    abort();
    await done;
    expect(rig.clock.pendingTimers).toBe(0);
  });

  it("ends where somebody puts a link in the log's place", async () => {
    const rig = createLogRig();
    rig.files.put("/etc/shadow", line("secret"));
    rig.append(line("1"));
    const { client, done } = rig.read({ follow: true });
    await rig.clock.settle();
    rig.files.delete(LOG);
    await rig.files.link("/etc/shadow", LOG);
    await rig.clock.advance(500);
    await expect(done).rejects.toThrow("ELOOP");
    expect(client.received).toBe("1\n");
  });
});
