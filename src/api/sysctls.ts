/**
 * Returns the name of a sysctl with dots between its parts, as runtimes take it. `/` and `.` are both separators. In a
 * name whose first separator is `/` the two change places (`net/ipv4/conf/eno2.100/rp_filter`).
 */
export function normaliseSysctl(name: string): string {
  const separator = /[./]/.exec(name)?.[0];
  return separator === "/" ? name.replace(/[./]/g, (found) => (found === "/" ? "." : "/")) : name;
}
