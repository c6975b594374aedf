import type { Pod } from "../../src/api/gen/types.ts";
import { makeApiSchedule, makeWrongSchedule } from "./api/api-schedule.ts";
import type { Dice } from "./dice.ts";
import { type FaultRates, NO_FAULTS } from "./faults.ts";
import { makeGrowthSchedule } from "./local-storage/growth-schedule.ts";
import { MANIFEST_DIRECTORY } from "./manifests.ts";
import { randomPod } from "./pod-script.ts";
import { makeTroubleSchedule } from "./probes/trouble-schedule.ts";
import type { Event } from "./schedule-event.ts";
import { makeShortageSchedule } from "./shortage/shortage-schedule.ts";
import { makeStorageSchedule } from "./storage/storage-schedule.ts";
import type { World } from "./world.ts";

const POD_NAMES = ["ant", "bee", "cat", "dog", "elk"] as const;
const FILES = ["a.yaml", "b.yaml", "c.json", "d.yaml", "e.yaml"] as const;
const SPOILT = [
  "",
  "{",
  "kind: Pod",
  'apiVersion: v1\nkind: Pod\nmetadata: {name: "../x"}\nspec: {containers: []}',
] as const;
const MIN_CHAOS_MS = 20_000;
const MAX_CHAOS_MS = 240_000;

/** A seed's chaos: how it goes wrong and for how long. */
interface Schedule {
  events: readonly Event[];
  /** When the world stops to interfere. */
  endsAt: number;
}

/** Each of the dice is of a node that has the thing: an API server, a driver, a disk that fills, probes, few places, too little of something, an API server that lies. */
interface ScheduleDice {
  own: Dice;
  api: Dice | undefined;
  storage: Dice | undefined;
  growth: Dice | undefined;
  probed: Dice | undefined;
  places: Dice | undefined;
  shortage: Dice | undefined;
  lying: Dice | undefined;
}

export function makeSchedule({
  own: dice,
  api: apiDice,
  storage: storageDice,
  growth,
  probed,
  places,
  shortage,
  lying,
}: ScheduleDice): Schedule {
  const endsAt = Math.round(dice.between(MIN_CHAOS_MS, MAX_CHAOS_MS));
  const at = () => Math.round(dice.between(0, endsAt));
  const files = Array.from({ length: dice.whole(1, 4) }, () => manifestEvent(dice, 0, ["write"]));
  const changes = Array.from({ length: dice.whole(2, 14) }, () => manifestEvent(dice, at(), MANIFEST_CHANGES));
  const isCalm = dice.chance(0.2);
  const storms = isCalm ? [] : Array.from({ length: dice.whole(1, 3) }, () => storm(dice, endsAt)).flat();
  const trouble = isCalm ? [] : Array.from({ length: dice.whole(0, 5) }, () => troubleEvents(dice, at())).flat();
  const restarts = dice.chance(0.3) ? [] : Array.from({ length: dice.whole(1, 4) }, () => restartEvent(dice, at()));
  const api = apiDice === undefined ? [] : makeApiSchedule(apiDice, endsAt);
  const storage = storageDice === undefined ? [] : makeStorageSchedule(storageDice, endsAt, lying !== undefined);
  const growing = growth === undefined ? [] : makeGrowthSchedule(growth, endsAt);
  const troubled = probed === undefined ? [] : makeTroubleSchedule(probed, endsAt);
  const crowd = places === undefined ? [] : makeCrowd(places, endsAt);
  const wrong = lying === undefined ? [] : makeWrongSchedule(lying, endsAt);
  const hungry = shortage === undefined ? [] : makeShortageSchedule(shortage, endsAt);
  const events = [
    ...crowd,
    ...hungry,
    ...wrong,
    ...api,
    ...storage,
    ...growing,
    ...troubled,
    ...files,
    ...changes,
    ...storms,
    ...trouble,
    ...restarts,
  ];
  return { events: events.toSorted((a, b) => a.at - b.at), endsAt };
}

/** More pods than a node of few places has room for, of the API before those of manifests. */
function makeCrowd(dice: Dice, endsAt: number): Event[] {
  const at = () => Math.round(dice.between(0, endsAt));
  const create = (time: number): Event => ({
    at: time,
    name: "user: crowds the node",
    happen: async ({ user }) => await user?.do("create several"),
  });
  const users = [create(0), ...Array.from({ length: dice.whole(1, 4) }, () => create(at()))];
  return [...users, ...Array.from({ length: dice.whole(3, 8) }, () => manifestEvent(dice, at(), ["write"]))];
}

const MANIFEST_CHANGES = [
  "write",
  "write",
  "change",
  "remove",
  "flap",
  "restore",
  "spoil",
  "move",
  "copy",
  "touch",
] as const;

function manifestEvent(dice: Dice, at: number, kinds: readonly [string, ...string[]]): Event {
  const kind = dice.pick(kinds);
  return { at, name: `operator: ${kind}`, happen: (world) => changeManifest(world, kind) };
}

async function changeManifest(world: World, kind: string): Promise<void> {
  const { manifests, dice, trace } = world;
  const file = kind === "write" ? dice.pick(FILES) : dice.pickAny(manifests.files());
  if (file === undefined) return;
  const how = dice.pick(["in place", "renamed over"] as const);
  const tell = (more = "") => trace.note(`operator: ${kind} ${file}${more}`);
  const pods = manifests.written(file);
  const dress = (pod: Pod) => world.probed?.dress(pod) ?? pod;
  switch (kind) {
    case "write": {
      const names = dice.chance(0.8) ? [dice.pick(POD_NAMES)] : POD_NAMES.slice(0, dice.whole(2, 3));
      tell(` with ${names.join(", ")}`);
      return manifests.write(
        file,
        names.map((name) => dress(randomPod(dice, name, dice.whole(0, 99)))),
        how,
      );
    }
    case "change":
      tell();
      return manifests.write(
        file,
        pods.map((pod) => dress(randomPod(dice, pod.metadata?.name ?? "", dice.whole(100, 199)))),
        how,
      );
    case "remove":
      tell();
      return removeForAWhile(world, file, pods, dice.chance(0.4) ? dice.between(1, 40_000) : undefined);
    case "flap":
      tell();
      return removeForAWhile(world, file, pods, dice.pick([0, 3, 8, 50, 400, 2_000]));
    case "restore":
    case "touch":
      tell();
      return manifests.write(file, pods, how);
    case "spoil":
      tell();
      return manifests.spoil(file, dice.pick(SPOILT));
    case "move":
    case "copy": {
      const to = dice.pick(FILES);
      if (to === file) return;
      tell(` to ${to}`);
      return kind === "move" ? manifests.move(file, to) : manifests.write(to, pods, how);
    }
  }
}

/** The same content comes back: the same UIDs. */
function removeForAWhile(world: World, file: string, pods: readonly Pod[], backAfterMs: number | undefined): void {
  world.manifests.remove(file);
  if (backAfterMs === undefined || pods.length === 0) return;
  world.clock.setTimer(backAfterMs, () => {
    if (world.manifests.files().includes(file)) return;
    world.trace.note(`operator: ${file} is back`);
    world.manifests.write(file, pods);
  });
}

function storm(dice: Dice, endsAt: number): Event[] {
  const begins = Math.round(dice.between(0, endsAt));
  const ends = Math.round(Math.min(endsAt, begins + dice.between(1_000, 60_000)));
  const rate = (chance: number, most: number) => (dice.chance(chance) ? dice.between(0, most) : 0);
  const rates: FaultRates = {
    rpcError: rate(0.6, 0.3),
    rpcDelay: rate(0.5, 0.3),
    rpcHang: rate(0.2, 0.05),
    fileError: rate(0.4, 0.15),
    eventLost: rate(0.5, 0.6),
    eventDoubled: rate(0.4, 0.5),
    eventLate: rate(0.4, 0.5),
  };
  return [
    { at: begins, name: "storm begins", happen: ({ faults }) => faults.storm(rates) },
    { at: ends, name: "storm ends", happen: ({ faults }) => faults.storm(NO_FAULTS) },
  ];
}

function troubleEvents(dice: Dice, at: number): Event[] {
  const later = at + Math.round(dice.between(100, 30_000));
  const kind = dice.pick(["outage", "restart", "network", "stream", "exit", "oom", "sandbox", "reboot", "unwatched"]);
  const one = (happen: Event["happen"]): Event[] => [{ at, name: kind, happen }];
  switch (kind) {
    case "outage":
      return lasting(kind, { at, later }, { begin: ({ cri }) => cri.stop(), mend: ({ cri }) => cri.start() });
    case "network":
      return lasting(
        kind,
        { at, later },
        {
          begin: ({ cri }) => cri.setNetworkReady(false, "simulated"),
          mend: ({ cri }) => cri.setNetworkReady(true),
        },
      );
    case "restart":
      return one(tell("runtime restart", ({ cri }) => cri.restart()));
    case "stream":
      return one(tell("stream break", ({ node }) => node.breakEvents()));
    case "reboot":
      return one(reboot);
    case "unwatched":
      return one(loseNotifications);
    default:
      return one((world) => endSomething(world, kind));
  }
}

/** Something that is broken for a while. */
function lasting(
  kind: string,
  { at, later }: { at: number; later: number },
  act: { begin(world: World): void; mend(world: World): void },
): Event[] {
  const begin = (world: World) => {
    world.faults.begin(kind);
    act.begin(world);
  };
  const mend = (world: World) => {
    world.faults.mend(kind);
    act.mend(world);
  };
  return [
    { at, name: `${kind} begins`, happen: begin },
    { at: later, name: `${kind} ends`, happen: mend },
  ];
}

function tell(kind: string, act: (world: World) => void): (world: World) => void {
  return (world) => {
    world.faults.count(kind);
    act(world);
  };
}

function reboot(world: World): void {
  world.faults.count("reboot");
  for (const container of world.cri.runningContainers()) interfere(world, container.sandboxId, container.id);
  for (const { config } of world.cri.sandboxes()) world.interference.pods.add(config.metadata?.uid ?? "");
  world.node.crash("by a reboot", world.dice.between(100, 5_000));
  world.cri.reboot();
  world.host.cgroups.tree.clear();
  for (const { path } of world.host.mounts.mounted().toReversed()) if (path !== "/") world.host.mounts.drop(path);
  world.cluster?.storage?.reboot();
}

/** The watch of the manifests says nothing for a while, as an inotify queue that overflows. */
function loseNotifications(world: World): void {
  world.faults.count("file watch silent");
  const restore = world.host.files.intercept(({ operation, path }) => {
    if (operation === "notify" && path === MANIFEST_DIRECTORY) throw new Error("lost");
  });
  world.clock.setTimer(world.dice.between(100, 20_000), restore);
}

/** A container or a sandbox is ended from outside. */
function endSomething(world: World, kind: string): void {
  const container = world.dice.pickAny(world.cri.runningContainers());
  if (container === undefined) return;
  world.faults.count(`external ${kind}`);
  const { sandboxId, id } = container;
  if (kind === "sandbox") {
    for (const other of world.cri.runningContainers())
      if (other.sandboxId === sandboxId) interfere(world, sandboxId, other.id);
    world.cri.killSandbox(sandboxId);
    return;
  }
  interfere(world, sandboxId, id);
  if (kind === "oom") world.cri.oomKill(id);
  else world.cri.exitContainer(id, world.dice.whole(0, 2));
}

function interfere({ cri, interference }: World, sandboxId: string, containerId: string): void {
  interference.endedContainers.add(containerId);
  const sandbox = cri.sandboxes().find(({ id }) => id === sandboxId);
  interference.pods.add(sandbox?.config.metadata?.uid ?? "");
}

const MOST_CALLS_BEFORE_CRASH = 150;

function restartEvent(dice: Dice, at: number): Event {
  const delayMs = dice.pick([0, 50, 1_000, dice.between(0, 30_000)]);
  if (dice.chance(0.25)) return { at, name: "graceful restart", happen: (world) => restart(world, delayMs) };
  // The next process is killed at one of its calls, the earlier ones more often.
  const crashPoint = {
    call: Math.ceil(MOST_CALLS_BEFORE_CRASH ** dice.between(0, 1)),
    phase: dice.pick(["before", "after"] as const),
  };
  return {
    at,
    name: "kill -9",
    async happen({ node, clock }) {
      node.crash("at some time", 60_000);
      if (dice.chance(0.7)) clock.setTimer(delayMs, () => void node.start(crashPoint));
      else clock.setTimer(delayMs, () => void node.start());
    },
  };
}

async function restart(world: World, delayMs: number): Promise<void> {
  await world.node.stop();
  world.clock.setTimer(delayMs, () => void world.node.start());
}
