import { writeFile } from "node:fs/promises";

/**
 * Sets the `oom_score_adj` of this process, -1000 to 1000, which processes that it starts inherit. Rejects with `EACCES`
 * where a score is lowered without CAP_SYS_RESOURCE.
 */
export async function setOwnOomScore(score: number, path = "/proc/self/oom_score_adj"): Promise<void> {
  await writeFile(path, `${score}`);
}
