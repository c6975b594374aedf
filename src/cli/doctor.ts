import type { Finding } from "../cluster/doctor/finding.ts";
import { judgeMachine } from "../cluster/doctor/judge-machine.ts";
import { readDoctorFacts } from "../cluster/doctor/read-doctor-facts.ts";
import { formatOutput, type OutputFormat } from "./format-output.ts";

/** The port of the node agent's health server. */
const PORTS = [10_248];
const MARKS: Record<Finding["level"], string> = { ok: "ok  ", warn: "warn", fail: "FAIL" };

/** Prints what this machine has and lacks. Returns 1 when pods cannot run on it. */
export async function doctor(stateDirectory: string, output: OutputFormat | undefined): Promise<number> {
  const facts = await readDoctorFacts(stateDirectory, PORTS);
  const findings = judgeMachine(facts);
  const failed = findings.filter(({ level }) => level === "fail").length;
  if (output !== undefined) console.log(formatOutput({ ok: failed === 0, findings, facts }, output));
  else console.log([...findings.map(formatFinding), "", formatVerdict(findings, failed)].join("\n"));
  return failed === 0 ? 0 : 1;
}

function formatFinding({ check, level, found, meaning, mend }: Finding): string {
  const lines = [`${MARKS[level]}  ${check.padEnd(18)} ${found}`];
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
