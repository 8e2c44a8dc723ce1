// Numbers for people.
const whole = new Intl.NumberFormat("en-US");
export const count = (number) => whole.format(number);
export const many = (number, one, more) => `${count(number)} ${number === 1 ? one : more || one + "s"}`;
export const decimal = (number, digits = 2) => number.toFixed(digits).replace("-", "−");

/** A share in percent, by the same rule as wording.share in Python: one decimal below 10 and above 99, halves go up. */
export function percent(part, all = 1) {
  const value = all ? (100 * part) / all : 0, tenths = Math.floor(10 * value + 0.5);
  if (tenths === 0 && value > 0) return "<0.1 %";
  if (tenths === 1000 && value < 100) return ">99.9 %";
  if ((tenths > 0 && tenths < 100) || (tenths > 990 && tenths < 1000)) return `${(tenths / 10).toFixed(1)} %`;
  return `${Math.floor(value + 0.5)} %`;
}
