"""Random objects of the benchmarks of `fbp calibrate`."""
import math


def ellipsoids(rng, radius, long=False, wide=1):
    """Lines of a phantom file: a body within a radius [mm], and 5 to 14 ellipsoids in it.  long: the body is longer
    than the panel; wide: factor of its width."""
    lines = [f'0 0 0 {radius * rng.uniform(.75, .95) * wide:.3f} {radius * rng.uniform(.6, .9) * wide:.3f} '
             f'{(220 if long else radius * rng.uniform(.7, .9)):.3f} {rng.uniform(0, 180):.1f} 0.01']
    for _ in range(rng.randint(5, 14)):
        r, a, z = radius * .62 * math.sqrt(rng.random()), rng.uniform(0, 2 * math.pi), rng.uniform(-.6, .6) * radius
        s = [rng.uniform(3, 16) for _ in range(3)]
        lines.append(f'{r * math.cos(a):.3f} {r * math.sin(a):.3f} {z:.3f} {s[0]:.3f} {s[1]:.3f} {s[2]:.3f} '
                     f'{rng.uniform(0, 180):.1f} {rng.uniform(.004, .02) * rng.choice([1, 1, -1 / 2]):.4f}')
    return lines
