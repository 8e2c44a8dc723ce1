#!/usr/bin/env bash
# On a machine with a graphics card: what the engine promises, then the figures of docs/gpu.md.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON="${PYTHON:-python3}"
export PYTHONPATH="src${PYTHONPATH:+:$PYTHONPATH}"
"$PYTHON" -m pytest --noconftest -p no:cacheprovider -o addopts= -q tests/engines/test_gpu.py tests/engines/test_contract.py
"$PYTHON" benchmarks/gpu.py run "${OUTCOMES:-docs/gpu/outcomes.json}"
if [ -z "${OUTCOMES:-}" ]; then "$PYTHON" benchmarks/gpu.py page; fi
