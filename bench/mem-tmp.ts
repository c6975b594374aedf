import { readFileSync } from "node:fs";
import { startAgent } from "./agent.ts";
import { isRunning, seeNoSandbox, seePods } from "./observe.ts";
import { createPoll } from "./poll.ts";
import { createWorld } from "./world.ts";
import { sleepingPod } from "./workload.ts";
const variants = (process.argv[2] ?? "").split(",");
const pods = Number(process.argv[3]);
const signal = new AbortController().signal;
const world = await createWorld(process.argv[4] ?? "/work/main/dist/nodelet.js");
const mem = (pid: number) => { const s = readFileSync(`/proc/${pid}/status`, "utf8"), m = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"); const g = (r: RegExp, t: string) => (Number(r.exec(t)?.[1]) / 1024).toFixed(1); return `rss ${g(/VmRSS:\s+(\d+)/, s)} anon ${g(/RssAnon:\s+(\d+)/, s)} file ${g(/RssFile:\s+(\d+)/, s)} pss ${g(/^Pss:\s+(\d+)/m, m)} peak ${g(/VmHWM:\s+(\d+)/, s)}`; };
const cpu = (pid: number) => { const st = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" "); return (Number(st[11]) + Number(st[12])) * 10; };
try {
  const poll = createPoll({ intervalMs: 100, signal });
  for (const v of variants) {
    process.env["BPROF"] = v.replaceAll("+", " ") || "--max-semi-space-size=2";
    const agent = await startAgent(world, signal);
    await new Promise((r) => setTimeout(r, 3000));
    const c0 = cpu(agent.pid);
    console.log(v, "empty", mem(agent.pid), "cpu", c0, "ready", agent.readyAfterMs.toFixed(0));
    const names = Array.from({ length: pods }, (_, i) => `m${variants.indexOf(v)}-${i}`);
    for (const n of names) await agent.write(sleepingPod(n));
    await seePods(agent, poll, { names, what: "Running", fits: isRunning });
    await new Promise((r) => setTimeout(r, 1500));
    console.log(v, "full", mem(agent.pid), "cpu of starts", cpu(agent.pid) - c0);
    await new Promise((r) => setTimeout(r, 8000));
    console.log(v, "full later", mem(agent.pid));
    for (const n of names) await agent.remove(n);
    await seeNoSandbox(world.cri, poll);
    await new Promise((r) => setTimeout(r, 1500));
    console.log(v, "emptied", mem(agent.pid), "cpu all", cpu(agent.pid) - c0);
    await agent.stop();
  }
} finally { await world.destroy(); }
