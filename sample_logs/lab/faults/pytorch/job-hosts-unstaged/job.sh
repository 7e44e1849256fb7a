cat > hosts.txt <<'END'
127.0.0.1 localhost
127.0.0.13 gpu-a13
127.0.0.14 gpu-a14
END
python stage.py local/gpu-a13
mkdir -p local/gpu-a14
exec unshare -m bash -c '
mount --bind hosts.txt /etc/hosts
pids=
for h in gpu-a13 gpu-a14; do
  HOST=$h unshare -u bash -c "hostname \$HOST; exec torchrun --nnodes 2 --nproc-per-node 1 --rdzv-backend c10d --rdzv-endpoint gpu-a13:$LAB_PORT --rdzv-id 5521 train.py --data local/\$HOST/rings.pt" > $LAB_OUT/$h.log 2>&1 &
  pids="$pids $!"
done
code=0; for p in $pids; do wait $p || code=$?; done; exit $code'
