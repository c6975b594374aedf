import { startAgent } from "./agent.ts";
import { isRunning, seeNoSandbox, seePods } from "./observe.ts";
import { createPoll } from "./poll.ts";
import { createWorld } from "./world.ts";
import { sleepingPod } from "./workload.ts";
import { summarize } from "./stats.ts";
import { createFloor } from "./floor.ts";
const programs = (process.argv[2] ?? "").split(",");
const pods = Number(process.argv[3]); const rounds = Number(process.argv[4]);
const signal = new AbortController().signal;
const world = await createWorld("");
const all = new Map<string, { starts: number[]; lasts: number[]; stops: number[]; cpu: number[] }>();
import { readFileSync } from "node:fs";
try {
  for (let round = 0; round < rounds; round++) {
    for (const program of programs) {
      world.program = program;
      const agent = await startAgent(world, signal);
      const poll = createPoll({ intervalMs: pods === 1 ? 2 : 20, signal });
      const repeat = pods === 1 ? 10 : 1;
      for (let k = -1; k < repeat; k++) {
      const names = Array.from({ length: pods }, (_, i) => `p${round}-${programs.indexOf(program)}-${k+1}-${i}`);
      const at = new Map<string, number>();
      for (const n of names) at.set(n, await agent.write(sleepingPod(n)));
      if (pods === 1) await new Promise((r) => setTimeout(r, Number(process.env["BW"] ?? 70)));
      const seen = await seePods(agent, poll, { names, what: "Running", fits: isRunning });
      if (pods === 1 && process.env["BW"]) console.log("W", (performance.timeOrigin + at.get(names[0]!)!).toFixed(1), (performance.timeOrigin + seen.get(names[0]!)!).toFixed(1));
      const starts = names.map((n) => seen.get(n)! - at.get(n)!);
      await new Promise((r) => setTimeout(r, 200));
      const removed = performance.now();
      for (const n of names) await agent.remove(n);
      const gone = await seeNoSandbox(world.cri, poll);
      const a = all.get(program) ?? { starts: [], lasts: [], stops: [], cpu: [] };
      all.set(program, a);
      if (k >= 0 || pods > 1) { a.starts.push(...starts); a.lasts.push(Math.max(...starts)); a.stops.push(gone - removed); }
      if (pods > 1) break;
      }
      const st = readFileSync(`/proc/${agent.pid}/stat`, "utf8").split(") ")[1]!.split(" ");
      all.get(program)!.cpu.push((Number(st[11]) + Number(st[12])) * 10);
      await agent.stop();
    }
    if (process.argv[5]) {
      const floor = await createFloor(world);
      const a = all.get("floor") ?? { starts: [], lasts: [], stops: [], cpu: [0] };
      all.set("floor", a);
      for (let k = 0; k < 10; k++) { const p = await floor.prepare(sleepingPod(`f${round}-${k}`)); const b = performance.now(); const s = await floor.start(p); a.starts.push(performance.now() - b); await new Promise((r) => setTimeout(r, 200)); a.stops.push(await floor.stop(s)); a.lasts.push(0); }
    }
  }
} finally { if (process.env["BKEEP"]) console.log(readFileSync(world.agentLog, "utf8").split("\n").slice(-300).join("\n")); await world.destroy(); }
for (const [p, a] of all) {
  const f = (x: number[]) => { const s = summarize(x); return `${s.median.toFixed(0)}/${s.p99.toFixed(0)}`; };
  console.log(p, "start", f(a.starts), "min", Math.min(...a.starts).toFixed(0), "last", f(a.lasts), "stop", f(a.stops), "cpu ms", f(a.cpu));
}
