import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createSeededRandom, type Random } from "../../../src/base/random.ts";
import { type ApiClient, createApiClient } from "../../contract/api/client.ts";
import { checkObjects, checkWatch, type Watched, watchUntilKilled } from "./check-cluster.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { type ControlPlaneProcess, startControlPlane } from "./program.ts";
import { writeUntilKilled } from "./writers.ts";

/** What a run does: which moment it is killed at. */
const PLANS = ["first-start", "opening", "leaf", "salvage", "checkpoint", "writing"] as const;
type Plan = (typeof PLANS)[number];

/** Their shares, in the order of the plans. */
const SHARES: Readonly<Record<Plan, number>> = {
  "first-start": 0.12,
  opening: 0.15,
  leaf: 0.08,
  salvage: 0.06,
  checkpoint: 0.15,
  writing: 0.44,
};

export interface Counts {
  readonly kills: Record<Plan, number>;
  acknowledged: number;
  looks: number;
  watchesResumed: number;
  watchesExpired: number;
}

export function createCounts(): Counts {
  const kills = { "first-start": 0, opening: 0, leaf: 0, salvage: 0, checkpoint: 0, writing: 0 };
  return { kills, acknowledged: 0, looks: 0, watchesResumed: 0, watchesExpired: 0 };
}

interface Lane {
  readonly directory: string;
  readonly port: number;
  readonly random: Random;
  readonly counts: Counts;
}

/** One cluster over many kills. */
interface Cluster {
  readonly ledger: Ledger;
  watched: Watched | undefined;
  /** Set once it was ready for the first time, and the same from then on. */
  authority: string | undefined;
  /** Since its database was damaged on purpose, nobody has looked. */
  isSalvaged: boolean;
  /** How long a start took, for kills while it opens. */
  startMs: number;
}

const FIRST_GUESS_OF_START_MS = 800;
const LONGEST_WRITING_MS = 500;
const LONGEST_LARGE_WRITING_MS = 20_000;
/** As in `open-journal.ts`. */
const CHECKPOINT_BYTES = 4 * 1024 * 1024;
const PAGE_BYTES = 4096;
const PAGES_WORTH_SALVAGING = 20;

/** Kills a control plane so many times, and looks after each start what is there. Throws what was lost, with the run. */
export async function runControlPlaneLane(lane: Lane, times: number): Promise<void> {
  let cluster = newCluster(lane, FIRST_GUESS_OF_START_MS);
  for (let run = 1; run <= times; run++) {
    // The last one looks at what the kill before it left.
    const plan = run === times ? "writing" : choosePlan(lane.random);
    try {
      if (plan === "first-start") cluster = newCluster(lane, cluster.startMs);
      await runOnce(lane, cluster, { run, plan });
    } catch (error) {
      throw new Error(`run ${run} (${plan}) in ${lane.directory}`, { cause: error });
    }
    lane.counts.kills[plan]++;
  }
}

function newCluster({ directory }: Lane, startMs: number): Cluster {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  return { ledger: createLedger(), watched: undefined, authority: undefined, isSalvaged: false, startMs };
}

function choosePlan(random: Random): Plan {
  const place = random.next();
  let reached = 0;
  for (const plan of PLANS) {
    reached += SHARES[plan];
    if (place < reached) return plan;
  }
  return "writing";
}

async function runOnce(lane: Lane, cluster: Cluster, { run, plan }: { run: number; plan: Plan }): Promise<void> {
  const { directory, port, random } = lane;
  const moment = random.next();
  const seed = Math.floor(random.next() * 2 ** 31);
  if (plan === "leaf") rmSync(join(directory, "control-plane", "pki", "apiserver.crt"), { force: true });
  if (plan === "salvage") cluster.isSalvaged = (await damage(directory, random)) || cluster.isSalvaged;
  const mayTellOfDamage = cluster.isSalvaged;
  const program = startControlPlane(directory, port);
  try {
    if (plan === "writing" || plan === "checkpoint") {
      await useCluster(lane, cluster, { program, run, moment, seed, isLarge: plan === "checkpoint" });
    } else {
      await delay(moment * cluster.startMs * 1.2);
    }
  } finally {
    await program.kill();
  }
  checkErrors(program, mayTellOfDamage);
}

interface Use {
  readonly program: ControlPlaneProcess;
  readonly run: number;
  readonly moment: number;
  /** Decides what is written. How far the writers come is up to the machine, so they do not share the lane's chance. */
  readonly seed: number;
  readonly isLarge: boolean;
}

async function useCluster(lane: Lane, cluster: Cluster, { program, run, moment, seed, isLarge }: Use): Promise<void> {
  const startedAt = performance.now();
  await program.ready;
  cluster.startMs = performance.now() - startedAt;
  const { ledger } = cluster;
  const api = connect(lane, cluster);
  try {
    await look(api, cluster, lane.counts);
    const { watched, ended } = await watchUntilKilled(api);
    cluster.watched = watched;
    const written = { bytes: 0 };
    const writing = writeUntilKilled({ api, ledger, random: createSeededRandom(seed), run, isLarge, written });
    const wait = isLarge
      ? untilWritten(written, CHECKPOINT_BYTES * (0.8 + moment))
      : delay(moment * LONGEST_WRITING_MS);
    await Promise.race([writing, wait]);
    await program.kill();
    await Promise.all([writing, ended]);
    lane.counts.acknowledged += ledger.acknowledged.length;
  } finally {
    api.close();
  }
}

/** The log is emptied when so much is in it, which the kill comes before, during or after. */
async function untilWritten(written: { bytes: number }, bytes: number): Promise<void> {
  const deadline = performance.now() + LONGEST_LARGE_WRITING_MS;
  while (written.bytes < bytes && performance.now() < deadline) await delay(1);
}

async function look(api: ApiClient, cluster: Cluster, counts: Counts): Promise<void> {
  const { ledger, watched, isSalvaged } = cluster;
  await checkObjects(api, ledger, isSalvaged);
  counts.looks++;
  if (watched !== undefined && !isSalvaged) {
    const isResumed = await checkWatch(api, watched, ledger);
    counts[isResumed ? "watchesResumed" : "watchesExpired"]++;
  }
  cluster.isSalvaged = false;
  ledger.acknowledged = [];
}

/** The authority stays the same, also when the first start was killed while it made the files. */
function connect({ directory, port }: Lane, cluster: Cluster): ApiClient {
  const read = (name: string) => readFileSync(join(directory, "control-plane", "pki", name), "utf8");
  const authority = read("ca.crt");
  if ((cluster.authority ?? authority) !== authority) throw new Error("the cluster has another authority than before");
  cluster.authority = authority;
  const url = `https://127.0.0.1:${port}`;
  return createApiClient({ url, caPem: authority, certificatePem: read("admin.crt"), keyPem: read("admin.key") });
}

/** Writes noise into the middle of the database. False when there is not enough in it yet. */
async function damage(directory: string, random: Random): Promise<boolean> {
  const path = join(directory, "control-plane", "store", "journal.db");
  const pages = existsSync(path) ? Math.floor(statSync(path).size / PAGE_BYTES) : 0;
  if (pages < PAGES_WORTH_SALVAGING) return false;
  const file = await open(path, "r+");
  const noise = Buffer.from(Array.from({ length: PAGE_BYTES }, () => Math.floor(random.next() * 256)));
  await file.write(noise, 0, PAGE_BYTES, (1 + Math.floor(random.next() * (pages - 1))) * PAGE_BYTES);
  await file.close();
  return true;
}

/** Only a database that was damaged on purpose is something to tell of. */
function checkErrors(program: ControlPlaneProcess, mayTellOfDamage: boolean): void {
  const errors = program.errors().filter((line) => !(mayTellOfDamage && line.includes("damaged and moved aside")));
  if (errors.length > 0) throw new Error(`it said: ${errors.join("; ")}`);
}
