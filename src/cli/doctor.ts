import type { Finding } from "../cluster/doctor/finding.ts";
import { judgeMachine } from "../cluster/doctor/judge-machine.ts";
import { readDoctorFacts } from "../cluster/doctor/read-doctor-facts.ts";
import { type Colour, colour, wantsColour } from "./colour.ts";
import { formatOutput, type OutputFormat } from "./format-output.ts";

/** The ports of the Kubernetes API and of the node agent's health server; others are chosen among free ones. */
const PORTS = [6443, 10_248];
const MARKS = {
  ok: { text: "ok  ", of: "green" },
  warn: { text: "warn", of: "yellow" },
  fail: { text: "FAIL", of: "red" },
} as const satisfies Record<Finding["level"], { text: string; of: Colour }>;

/** Prints what this machine has and lacks. Returns 1 when pods cannot run on it. */
export async function doctor(stateDirectory: string, output: OutputFormat | undefined): Promise<number> {
  const facts = await readDoctorFacts(stateDirectory, PORTS);
  const findings = judgeMachine(facts);
  const failed = findings.filter(({ level }) => level === "fail").length;
  if (output !== undefined) console.log(formatOutput({ ok: failed === 0, findings, facts }, output));
  else {
    const isColoured = wantsColour(process.env, process.stdout.isTTY);
    const lines = findings.map((finding) => formatFinding(finding, isColoured));
    console.log([...lines, "", formatVerdict(findings, failed)].join("\n"));
  }
  return failed === 0 ? 0 : 1;
}

function formatFinding({ check, level, found, meaning, mend }: Finding, isColoured: boolean): string {
  const lines = [`${colour(MARKS[level].text, MARKS[level].of, isColoured)}  ${check.padEnd(18)} ${found}`];
  const indent = " ".repeat(25);
  if (meaning !== undefined) lines.push(`${indent}${meaning}`);
  if (mend !== undefined) lines.push(`${indent}mend: ${mend}`);
  return lines.join("\n");
}

function formatVerdict(findings: readonly Finding[], failed: number): string {
  const warned = findings.filter(({ level }) => level === "warn").length;
  if (failed > 0) return `This machine cannot run pods yet: ${failed} of ${findings.length} checks failed.`;
  return warned === 0
    ? "This machine can run pods."
    : `This machine can run pods (${warned} ${warned === 1 ? "warning" : "warnings"}).`;
}
